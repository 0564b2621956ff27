// Checks that all visible texts stand in this folder, so that a translation is another object of its type.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { texts } from '.';

const root = join(import.meta.dirname, '..');

// Attributes that a screen shows or a screen reader announces, including those of our components.
const shown =
  /^(aria-label|title|placeholder|label|alt|about|hint|verb|wording|message|what|heading|summary|none|empty|caption)$/;
// Commands, keys and product names are the same in every language.
const literal = new Set(['code', 'kbd', 'pre']);
const names = new Set(['Atelier']);
// These files generate code or shell commands, which are not translated.
const programs =
  /^(agent\/(starters|callCommands)|features\/tool\/recipes|features\/tools\/snippets|schema\/(declarations|toTypes|toPython|calledAgents)|editor\/(jsonModule|python\/(annotate|service))\b)/;

const word = /\p{L}{2}/u;
const sentence = /^(?!\(|:|color-mix\(|.*\[).*\p{L}{2}[,;:.]? \p{Ll}{2}/su;

const textOf = (node: ts.Node): string | undefined => {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  return node.head.text + node.templateSpans.map((span) => `…${span.literal.text}`).join('');
};

/** Whether an expression is rendered as text, rather than passed to a call or compared. */
function place(node: ts.Node): ts.JsxAttribute | ts.JsxExpression | undefined {
  const { parent } = node;
  if (ts.isJsxAttribute(parent)) return parent;
  if (ts.isJsxExpression(parent)) return ts.isJsxAttribute(parent.parent) ? parent.parent : parent;
  const passes =
    ts.isParenthesizedExpression(parent) ||
    ts.isTemplateSpan(parent) ||
    ts.isTemplateExpression(parent) ||
    (ts.isConditionalExpression(parent) && parent.condition !== node) ||
    (ts.isBinaryExpression(parent) && /^(&&|\|\||\?\?|\+)$/.test(parent.operatorToken.getText()));
  return passes ? place(parent) : undefined;
}

function isText(node: ts.Node): boolean {
  if (ts.isJsxText(node)) {
    const { parent } = node;
    return (
      word.test(node.text) &&
      !names.has(node.text.trim()) &&
      !(ts.isJsxElement(parent) && literal.has(parent.openingElement.tagName.getText()))
    );
  }
  const text = textOf(node);
  // A thrown Error reports a bug in the Studio and needs no translation.
  if (text === undefined || (ts.isNewExpression(node.parent) && node.parent.expression.getText() === 'Error'))
    return false;
  if (ts.isPropertyAssignment(node.parent) && node.parent.name.getText() === 'fontFamily') return false;
  const at = place(node);
  if (at && ts.isJsxExpression(at)) return word.test(text);
  if (at && shown.test(at.name.getText())) return word.test(text);
  return !(at && /^(className|rel)$/.test(at.name.getText())) && sentence.test(text);
}

function textsIn(path: string): string[] {
  const file = ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    if (isText(node)) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      const text = node.getText().trim().replace(/\s+/g, ' ');
      found.push(`web/src/${path}:${line + 1}: ${text} — move it to web/src/texts and show it from there`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

it('all visible texts stand in web/src/texts', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.tsx?$/.test(path) && !/\.test\.ts$|\.d\.ts$|^texts\//.test(path) && !programs.test(path),
  );
  expect(files.flatMap(textsIn)).toEqual([]);
}, 60_000); // parses every file while other tests run

it('has all of its files in one object', () => {
  const others = /^(index|format|rich)\.ts$|\.test\.ts$/;
  const files = readdirSync(import.meta.dirname).filter((name) => !others.test(name));
  expect(Object.keys(texts).sort()).toEqual(files.map((name) => name.replace(/\.ts$/, '')).sort());
});
