package page

// Style is the style sheet of a page. It has neither "<" nor "&", so that HTML and XML read the same.
const Style = `
:root {
  color-scheme: light dark;
  --paper: #fbfbfa; --card: #ffffff; --ink: #1f2328; --soft: #5f6972; --line: #e3e6e8; --head: #f4f6f7;
  --new: #eaf7ee; --new-mark: #b4e6c1; --new-ink: #1a7f37; --old: #fdeeee; --old-mark: #f6c6c6; --old-ink: #b3302b;
  --at: #eef3f9; --at-ink: #4b6584; --warn: #fdf6e3; --warn-ink: #7a5b00; --rename-ink: #6b4fa0;
  --comment-ink: #525b64; --text-ink: #0a5c7a; --number-ink: #854600; --key-ink: #7a3e9d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171a; --card: #1a1e22; --ink: #d9dee3; --soft: #8b96a1; --line: #2b3137; --head: #20252a;
    --new: #17291e; --new-mark: #224f31; --new-ink: #6cc385; --old: #2f1c1d; --old-mark: #713033; --old-ink: #f08a84;
    --at: #1c2530; --at-ink: #8fa9c6; --warn: #2b2514; --warn-ink: #dfc06a; --rename-ink: #b79ae6;
    --comment-ink: #b4bec8; --text-ink: #8ecae6; --number-ink: #e6bd85; --key-ink: #d6bdf5;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 40px 24px 56px; }
h1 { margin: 0; font-size: 26px; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; overflow-wrap: anywhere; }
h2 { margin: 36px 0 12px; font-size: 16px; font-weight: 650; }
p { margin: 8px 0; overflow-wrap: anywhere; }
code, .diff, .side, .name { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 12.5px; }
.line, .digest, .quiet, footer, small { color: var(--soft); }
dl { display: flex; flex-wrap: wrap; gap: 12px 36px; margin: 24px 0 16px; }
dt { color: var(--soft); font-size: 13px; }
dd { margin: 0; font-size: 20px; font-weight: 600; font-variant-numeric: tabular-nums; }
.low { color: var(--new-ink); }
.medium { color: var(--warn-ink); }
.high, .critical { color: var(--old-ink); }
.digest { font-size: 13px; }
.warn, .stop { padding: 8px 12px; border-radius: 6px; background: var(--warn); color: var(--warn-ink); }
.stop { background: var(--old); color: var(--old-ink); }
.warnings { padding-bottom: 6px; }
.warnings summary { color: var(--warn-ink); background: none; font-size: 14px; }
.warnings .warn { margin: 4px 12px; }
table { width: 100%; border-collapse: collapse; }
.steps { border: 1px solid var(--line); border-radius: 8px; border-collapse: separate; border-spacing: 0; background: var(--card); overflow: hidden; }
.steps th, .steps td { padding: 7px 14px; font-size: 14px; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
.steps th { color: var(--soft); background: var(--head); font-size: 13px; font-weight: 500; }
.steps td { border-top: 1px solid var(--line); }
.steps .r { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.skipped { color: var(--soft); }
.failed small { color: var(--old-ink); }
details { margin: 10px 0; border: 1px solid var(--line); border-radius: 8px; background: var(--card); overflow: hidden; }
summary { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 12px; padding: 9px 14px; cursor: pointer; background: var(--head); }
summary::-webkit-details-marker { display: none; }
summary::before { flex: none; align-self: center; width: 0; height: 0; margin-right: -4px; border: 4px solid transparent; border-right-width: 0; border-left: 6px solid var(--soft); content: ""; }
details[open] summary::before { transform: rotate(90deg); }
summary b { flex: none; width: 66px; font-size: 13px; font-weight: 500; }
summary:focus-visible { outline: 2px solid var(--at-ink); outline-offset: -2px; }
.created b { color: var(--new-ink); }
.deleted b { color: var(--old-ink); }
.modified b { color: var(--at-ink); }
.renamed b { color: var(--rename-ink); }
.name { flex: 1 1 240px; min-width: 0; font-size: 13px; font-weight: 600; overflow-wrap: anywhere; white-space: pre-wrap; }
.count { flex: none; font-size: 13px; font-variant-numeric: tabular-nums; }
ins, del { text-decoration: none; }
ins { color: var(--new-ink); }
del { color: var(--old-ink); }
.facts { margin: 0; padding: 6px 14px 7px 30px; border-top: 1px solid var(--line); color: var(--soft); font-size: 13px; }
.diff, .side { line-height: 20px; table-layout: fixed; tab-size: 4; }
.diff td, .side td { padding: 0 8px; vertical-align: baseline; white-space: pre-wrap; overflow-wrap: anywhere; overflow: hidden; }
.n { width: 52px; }
.s { width: 20px; }
.diff td:nth-child(1), .diff td:nth-child(2), .side td:nth-child(odd) { padding: 0 8px 0 0; color: var(--soft); text-align: right; white-space: nowrap; user-select: none; font-size: 11.5px; }
.diff td:nth-child(3) { padding: 0; color: var(--soft); text-align: center; user-select: none; }
.diff .at td, .side .at td { padding: 4px 14px; background: var(--at); color: var(--at-ink); text-align: left; font-size: 12px; white-space: normal; user-select: auto; }
.by { float: right; margin-left: 12px; color: inherit; }
.side .none { background: var(--head); }
.side td:nth-child(3) { border-left: 1px solid var(--line); }
.side .end { display: block; font-style: italic; }
.diff .new td, .side .new { background: var(--new); }
.diff .old td, .side .old { background: var(--old); }
.diff .new td:nth-child(3) { color: var(--new-ink); }
.diff .old td:nth-child(3) { color: var(--old-ink); }
.diff .end td { color: var(--soft); font-style: italic; }
.diff .c, .side .c { color: var(--comment-ink); }
.diff .t, .side .t { color: var(--text-ink); }
.diff .u, .side .u { color: var(--number-ink); }
.diff .k, .side .k { color: var(--key-ink); }
mark { border-radius: 3px; background: none; color: inherit; }
.modified .new mark, .renamed .new mark { background: var(--new-mark); }
.modified .old mark, .renamed .old mark { background: var(--old-mark); }
i { padding: 0 2px; border-radius: 3px; background: var(--warn); color: var(--warn-ink); font-style: normal; }
footer { margin-top: 40px; font-size: 13px; }
@media (max-width: 640px) {
  main { padding: 20px 12px 40px; }
  h1 { font-size: 21px; }
  dl { gap: 10px 22px; margin: 18px 0 12px; }
  dd { font-size: 17px; }
  .steps th, .steps td { padding: 6px 8px; }
  .n { width: 34px; }
  .s { width: 14px; }
  .diff td, .side td { padding: 0 4px 0 2px; }
  .diff td:nth-child(1), .diff td:nth-child(2), .side td:nth-child(odd) { padding: 0 4px 0 0; font-size: 10px; }
  .diff .at td, .side .at td { padding: 4px 8px; }
  .name { flex-basis: 100%; order: 3; }
}
@media print {
  body { background: none; }
  details { break-inside: auto; }
}
`
