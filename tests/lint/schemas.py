#!/usr/bin/env python3
"""Checks that each schema is a JSON Schema (draft-07) and describes itself and every property."""

import json

import jsonschema

import tree


def properties(path, schema):
    """Every property below `schema`, with its path."""
    if isinstance(schema, list):
        for entry in schema:
            yield from properties(path, entry)
    elif isinstance(schema, dict):
        for keyword, part in schema.items():
            if keyword in ("properties", "patternProperties"):
                for name, child in part.items():
                    yield f"{path}/{name}", child
                    yield from properties(f"{path}/{name}", child)
            elif keyword == "definitions":
                for name, child in part.items():
                    yield from properties(f"{path}({name})", child)
            elif keyword not in ("default", "enum", "const", "examples", "required"):
                yield from properties(path, part)


def described(part, schema):
    """By its own text or by that of the definition that it refers to."""
    while isinstance(part, dict) and "$ref" in part and "description" not in part:
        name = part["$ref"].removeprefix("#/definitions/")
        part = schema.get("definitions", {}).get(name)
    return isinstance(part, dict) and part.get("description", "").strip() != ""


def check(root):
    found = []
    names = tree.files(root, ".schema.json")
    for name in names:
        schema = json.loads(tree.text(root, name))
        if schema.get("$schema", "").rstrip("#") != "http://json-schema.org/draft-07/schema":
            found.append(f"{name}: wanted $schema draft-07, found {schema.get('$schema')}")
        try:
            jsonschema.Draft7Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            found.append(f"{name}: {error.message}")
        for path, part in [("", schema), *properties("", schema)]:
            if not described(part, schema):
                found.append(f"{name}: {path or '(whole)'} has no description")
    return found or ([] if names else ["wanted schemas, found none"])


HEAD = '"$schema": "http://json-schema.org/draft-07/schema#", "description": "All."'
BAD = {
    "/nodes/name has no description": {"a.schema.json": f'''{{{HEAD}, "properties": {{"nodes": {{"description": "Them.",
        "items": {{"properties": {{"name": {{"type": "string"}}}}}}}}}}}}'''},
    "(file)/path has no description": {"a.schema.json": f'''{{{HEAD}, "definitions":
        {{"file": {{"properties": {{"path": {{"description": " "}}}}}}}}}}'''},
    "/state has no description": {"a.schema.json": f'''{{{HEAD}, "definitions": {{"file": {{"type": "object"}}}},
        "properties": {{"state": {{"$ref": "#/definitions/file"}}}}}}'''},
    "(whole) has no description": {"a.schema.json": '{"$schema": "http://json-schema.org/draft-07/schema#"}'},
    "wanted $schema draft-07": {"a.schema.json": '{"description": "All."}'},
    "is not valid under any of the given schemas": {"a.schema.json": f'{{{HEAD}, "type": "texts"}}'},
    "wanted schemas": {"a.json": "{}"},
}
GOOD = {"b.schema.json": f'''{{{HEAD}, "definitions": {{"file": {{"description": "A file."}}}},
    "properties": {{"state": {{"$ref": "#/definitions/file"}}}}}}''', "a.schema.json": f'''{{{HEAD}, "required": ["properties"], "properties":
    {{"properties": {{"description": "Odd name.", "default": {{"properties": {{"x": {{}}}}}}}}}}}}'''}

if __name__ == "__main__":
    tree.main(check, BAD, GOOD)
