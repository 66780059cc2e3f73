// The properties that only the page's own code knows: the build gives them short names.
//
// A name is internal if the sources give it to a property and nobody else can have it in mind. These names are others':
// properties of the browser, of JavaScript and of Preact; texts, since a text may be the name of a property; attributes of
// elements; fields of JSON, which are in docs/formats/view-http.md, in interfaces called Json, or have an underscore.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const WORD = /^[A-Za-z_$][\w$]*$/;

function filesBelow(folder, ends) {
  return readdirSync(folder, { recursive: true }).filter((name) => ends.test(name)).map((name) => join(folder, name));
}

const parsed = (file) => ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, false, file.endsWith("x") ? ts.ScriptKind.TSX : undefined);

/** Calls `visit` for a node and all nodes in it, which gets the names of the interfaces around them, too. */
function walk(node, visit, around = "") {
  visit(node, around);
  const inside = ts.isInterfaceDeclaration(node) ? node.name.text : around;
  ts.forEachChild(node, (child) => walk(child, visit, inside));
}

/** The name of a property that a node declares, or "". */
function declaredBy(node) {
  if (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node) || ts.isPropertySignature(node) || ts.isPropertyDeclaration(node)
    || ts.isMethodSignature(node) || ts.isMethodDeclaration(node) || ts.isAccessor(node) || ts.isJsxAttribute(node)) return node.name.text ?? "";
  return ts.isParameter(node) && node.modifiers?.length ? node.name.text ?? "" : "";
}

/** Declarations of properties in TypeScript's description of the browser and the language. */
const OF_LIBRARY = /^ +(?:readonly |get |set )*(\w+)\??[(:<]/gm;
const FIELD = /"(\w+)":/g;

/** The names that others have in mind. */
function reservedBy(sources, library, preact, protocol) {
  const names = new Set([...protocol.matchAll(FIELD)].map((match) => match[1]));
  for (const file of library) for (const match of readFileSync(file, "utf8").matchAll(OF_LIBRARY)) names.add(match[1]);
  for (const file of preact) walk(parsed(file), (node) => names.add(ts.isPropertyAccessExpression(node) ? node.name.text : declaredBy(node)));
  for (const source of sources) {
    walk(source, (node, around) => {
      if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) names.add(node.text);
      const name = declaredBy(node);
      if (/Json$/.test(around) || name.includes("_") || /^on[A-Z]/.test(name)) names.add(name);
      const tag = ts.isJsxOpeningElement(node) || ts.isJsxSelfClosingElement(node) ? node.tagName.text ?? "" : "";
      if (/^[a-z]/.test(tag)) for (const attribute of node.attributes.properties) names.add(attribute.name?.text ?? "");
    });
  }
  return names;
}

/** REQUIRES: the packages of package.json are in `viewer`/node_modules. */
export function internalNames(viewer) {
  const modules = join(viewer, "node_modules"), library = join(modules, "typescript/lib");
  const sources = filesBelow(join(viewer, "src"), /\.tsx?$/).map(parsed);
  const reserved = reservedBy(
    sources, filesBelow(library, /^lib\.(dom|dom\.iterable|es(5|20\d\d)[\w.]*)\.d\.ts$/), ["dist/preact.mjs", "hooks/dist/hooks.mjs", "jsx-runtime/dist/jsxRuntime.mjs"].map((file) => join(modules, "preact", file)),
    readFileSync(join(viewer, "../docs/formats/view-http.md"), "utf8"),
  );
  const declared = new Set();
  for (const source of sources) walk(source, (node) => declared.add(declaredBy(node)));
  return [...declared].filter((name) => WORD.test(name) && !reserved.has(name)).sort();
}
