// Applies workspace edits to trees in memory, the texts by vscode-languageserver-textdocument, and compares with what
// commits have made of them.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { TextDocument } from "vscode-languageserver-textdocument";

const mark = "\ufeff";
const { Root, Samples } = JSON.parse(readFileSync(0, "utf8"));
let texts = 0;

function nameOf(uri) {
  const path = decodeURIComponent(new URL(uri).pathname);
  if (!path.startsWith(Root + "/")) throw new Error(`${uri} is not in the root`);
  return path.slice(Root.length + 1);
}

function take(files, uri) {
  const name = nameOf(uri);
  if (!(name in files)) return null; // a directory
  const text = files[name];
  delete files[name];
  return text;
}

function put(files, uri, text) {
  const name = nameOf(uri);
  if (name in files) throw new Error(`${name} is there already`);
  files[name] = text;
}

function edited(change, before) {
  const marked = before.startsWith(mark);
  const document = TextDocument.create(change.textDocument.uri, "plaintext", 0, marked ? before.slice(1) : before);
  texts++;
  return (marked ? mark : "") + TextDocument.applyEdits(document, change.edits);
}

for (const { Before, After, Edit } of Samples) {
  const files = { ...Before };
  for (const change of Edit.documentChanges) {
    if (change.kind === "create") put(files, change.uri, "");
    else if (change.kind === "delete") take(files, change.uri);
    else if (change.kind === "rename") put(files, change.newUri, take(files, change.oldUri));
    else put(files, change.textDocument.uri, edited(change, take(files, change.textDocument.uri)));
  }
  if (!isDeepStrictEqual(files, After)) {
    console.error(JSON.stringify({ Before, Edit, want: After, got: files }, null, 1));
    process.exit(1);
  }
}
console.log(JSON.stringify({ Checked: Samples.length, Texts: texts }));
