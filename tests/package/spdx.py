"""The rules of SPDX 2.3 for the parts that a package's list of parts has, as a JSON schema and by hand.

https://spdx.github.io/spdx-spec/v2.3/: clauses 6 (document), 7 (packages), 11 (relationships). Stricter than the standard where it may
be: what the list never has is no key here."""

import jsonschema

ID = {"type": "string", "pattern": r"^SPDXRef-[a-zA-Z0-9.-]+$"}
TEXT = {"type": "string", "minLength": 1}
CREATOR = r"(Person|Organization): [^()]+( \([^()]+\))?"
TIME = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$"


def record(**keys):
    """An object with these keys alone, all of them."""
    return {"type": "object", "properties": keys, "required": list(keys), "additionalProperties": False}


PURL = record(referenceCategory={"const": "PACKAGE-MANAGER"}, referenceType={"const": "purl"},
              referenceLocator={"type": "string", "pattern": r"^pkg:deb/[a-z]+/[a-z0-9.%B+-]+@[A-Za-z0-9.~%+-]+\?arch=[a-z0-9]+&distro=[a-z]+-[0-9.]+$"})
COMMON = {
    "SPDXID": ID, "name": TEXT, "versionInfo": TEXT, "downloadLocation": {"const": "NOASSERTION"}, "filesAnalyzed": {"const": False},
    "supplier": {"type": "string", "pattern": f"^({CREATOR}|NOASSERTION)$"}, "sourceInfo": TEXT,
    "licenseConcluded": {"enum": ["Apache-2.0", "NOASSERTION"]}, "licenseDeclared": {"enum": ["Apache-2.0", "NOASSERTION"]},
    "copyrightText": TEXT,
}
OWN = record(**COMMON, primaryPackagePurpose={"const": "APPLICATION"})
OTHER = record(**COMMON, externalRefs={"type": "array", "items": PURL, "minItems": 1})
RELATION = record(spdxElementId=ID, relatedSpdxElement=ID, relationshipType={"enum": ["DESCRIBES", "DYNAMIC_LINK", "STATIC_LINK"]})
DOCUMENT = record(
    spdxVersion={"const": "SPDX-2.3"}, dataLicense={"const": "CC0-1.0"}, SPDXID={"const": "SPDXRef-DOCUMENT"}, name=TEXT,
    documentNamespace={"type": "string", "pattern": r"^https://[^#]+$"},
    creationInfo=record(created={"type": "string", "pattern": TIME},
                        creators={"type": "array", "items": {"type": "string", "pattern": f"^(Tool: .+|{CREATOR})$"}, "minItems": 1}),
    packages={"type": "array", "items": {"anyOf": [OWN, OTHER]}, "minItems": 1},
    relationships={"type": "array", "items": RELATION, "minItems": 1})


def find_mistakes(document):
    """A line for each rule that the document breaks."""
    mistakes = [f"{'/'.join(map(str, one.absolute_path))}: {one.message}" for one in jsonschema.Draft7Validator(DOCUMENT).iter_errors(document)]
    if mistakes:
        return mistakes
    ids = [document["SPDXID"], *(package["SPDXID"] for package in document["packages"])]
    mistakes += [f"{one} is there more than once" for one in sorted(set(ids)) if ids.count(one) > 1]
    for relation in document["relationships"]:
        mistakes += [f"{one} is no element" for one in (relation["spdxElementId"], relation["relatedSpdxElement"]) if one not in ids]
    related = {relation["relatedSpdxElement"] for relation in document["relationships"]}
    return mistakes + [f"{one} has no relation" for one in ids[1:] if one not in related]
