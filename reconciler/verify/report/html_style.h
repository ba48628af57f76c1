#pragma once

#include <string_view>

namespace reconciler {

// Of the page that RenderHtml writes. Colours have a contrast of at least 4.5 to 1 with their
// background; an outcome is a word too, never a colour alone.
inline constexpr std::string_view kHtmlStyle =
    ":root { color-scheme: light dark; --text: #1b1f24; --soft: #57606a; --page: #ffffff; --card: "
    "#f6f8fa; "
    "--edge: #d0d7de; --ok: #116329; --ok-back: #dafbe1; --warn: #6f4e00; --warn-back: #fff3c4; "
    "--bad: #a40e26; --bad-back: #ffebe9; --link: #0550ae; --heat: 140; --heat-light: 88%; } "
    "@media (prefers-color-scheme: dark) { "
    ":root { --text: #e6edf3; --soft: #9da7b1; --page: #0d1117; --card: #161b22; --edge: #3d444d; "
    "--ok: #7ee2a0; --ok-back: #12341e; --warn: #f2cc60; --warn-back: #3a2d08; --bad: #ffa198; "
    "--bad-back: #4a1418; --link: #79c0ff; --heat-light: 22%; } } "
    "* { box-sizing: border-box; } "
    "body { margin: 0 auto; padding: 1rem; max-width: 62rem; background: var(--page); color: "
    "var(--text); "
    "font: 16px/1.5 system-ui, sans-serif; } "
    "h1 { font-size: 1.5rem; margin: 0 0 .25rem; } "
    "h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; } "
    "h3 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; } "
    ".verdict { border: 2px solid; border-radius: .5rem; padding: 1rem; } "
    ".passed { color: var(--ok); background: var(--ok-back); } "
    ".failed { color: var(--bad); background: var(--bad-back); } "
    ".unsure { color: var(--warn); background: var(--warn-back); } "
    ".verdict p { margin: 0; color: var(--text); } "
    ".finding { border: 1px solid var(--edge); border-left-width: .4rem; border-radius: .4rem; "
    "padding: .75rem; "
    "margin: .75rem 0; background: var(--card); } "
    ".finding.fail { border-left-color: var(--bad); } "
    ".finding.warn, .finding.could-not-measure { border-left-color: var(--warn); } "
    "dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0 "
    "0; } "
    "dt { color: var(--soft); } "
    "dd { margin: 0; overflow-wrap: anywhere; } "
    ".wide { overflow-x: auto; border: 1px solid var(--edge); border-radius: .4rem; margin: .5rem "
    "0; } "
    ".wide:focus-visible { outline: 3px solid var(--link); } "
    "table { border-collapse: collapse; width: 100%; } "
    "caption { text-align: left; padding: .4rem .6rem; color: var(--soft); } "
    "th, td { padding: .3rem .6rem; text-align: left; border-top: 1px solid var(--edge); "
    "white-space: nowrap; } "
    "td.number { text-align: right; font-variant-numeric: tabular-nums; } "
    "td.pass { color: var(--ok); } td.warn { color: var(--warn); } td.fail { color: var(--bad); } "
    ".picture { background: #ffffff; padding: .5rem; } "
    ".picture svg { max-width: none; } "
    ".chart { width: 100%; min-width: 36rem; max-width: 44rem; height: auto; font: 12px system-ui, "
    "sans-serif; } "
    ".chart text { fill: var(--text); } .chart .right { text-anchor: end; } .chart .middle { "
    "text-anchor: middle; } "
    ".grid { stroke: var(--edge); } .roofline { stroke: var(--soft); stroke-dasharray: 6 4; "
    "stroke-width: 2; } "
    "polyline { fill: none; } [class^=line] { stroke-width: 2.5; } "
    ".line0 { stroke: #1f78d1; } .line1 { stroke: #c2410c; } .line2 { stroke: #2e8b57; } .line3 { "
    "stroke: #9333ea; } "
    ".line4 { stroke: #b8860b; } "
    "footer { margin-top: 2rem; color: var(--soft); } "
    "@media print { body { max-width: none; } .finding, .wide, tr { break-inside: avoid; } .wide { "
    "overflow: visible; } } ";

}  // namespace reconciler
