import MarkdownIt, { type Token } from 'markdown-it';
import { createElement, Fragment, useMemo, type ReactNode } from 'react';
import css from './Markdown.module.css';

// HTML is shown as text, which is the default of the parser. Words such as README.md do not become links, although they
// look like host names.
const parser = new MarkdownIt({ html: false, linkify: true });
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

/** The allowed tokens and their elements. The highest heading is one level below that of the page. */
const elements: Partial<Record<string, string>> = {
  ...{ h1: 'h3', h2: 'h4', h3: 'h5', h4: 'h6', h5: 'h6', h6: 'h6' },
  ...{ p: 'p', ul: 'ul', ol: 'ol', li: 'li', blockquote: 'blockquote', em: 'em', strong: 'strong', s: 's' },
  ...{ table: 'table', thead: 'thead', tbody: 'tbody', tr: 'tr', th: 'th', td: 'td' },
};

/** Shows untrusted Markdown. HTML in it is shown as text, and nothing is downloaded or executed. */
export function Markdown({ text }: { text: string }) {
  const nodes = useMemo(() => drawn(parser.parse(text, {})), [text]);
  return <div className={css.text}>{nodes}</div>;
}

/**
 * The parser returns opening and closing tokens. Each closing token turns everything since its opening token into an
 * element.
 */
function drawn(tokens: readonly Token[]): ReactNode[] {
  let inner: ReactNode[] = [];
  const outer: { open: Token; before: ReactNode[] }[] = [];
  tokens.forEach((token, at) => {
    if (token.nesting === 1) {
      outer.push({ open: token, before: inner });
      inner = [];
      return;
    }
    const ended = token.nesting === -1 ? outer.pop() : undefined;
    const node = ended ? element(ended.open, inner) : leaf(token);
    if (ended) inner = ended.before;
    inner.push(<Fragment key={at}>{node}</Fragment>);
  });
  return inner;
}

function element(open: Token, children: ReactNode[]): ReactNode {
  if (open.hidden) return children; // the parser hides the paragraph of an item with one line
  if (open.tag === 'a') return <Anchor href={String(open.attrGet('href') ?? '')}>{children}</Anchor>;
  const name = elements[open.tag];
  if (name === undefined) return children;
  const start = name === 'ol' ? open.attrGet('start') : null;
  if (name === 'table') {
    return (
      <div tabIndex={0} {...direction(open)}>
        <table>{children}</table>
      </div>
    );
  }
  return createElement(name, { ...(start !== null && { start: Number(start) }), ...direction(open) }, children);
}

/** A block has the direction of its text, so that list markers are where its lines start. */
const direction = ({ block, level }: Token): { dir?: 'auto' } => (block && level === 0 ? { dir: 'auto' } : {});

function leaf(token: Token): ReactNode {
  switch (token.type) {
    case 'inline':
      return drawn(token.children ?? []);
    case 'code_inline':
      return <code>{token.content}</code>;
    case 'fence':
    case 'code_block':
      return (
        <pre tabIndex={0}>
          <code>{token.content}</code>
        </pre>
      );
    case 'hardbreak':
      return <br />;
    case 'softbreak':
      return '\n';
    case 'hr':
      return <hr />;
    default:
      return token.content; // only the alternative text of a picture is shown, because the page downloads no pictures
  }
}

/** Only absolute URLs become links, because a relative path does not exist in the Studio. */
function Anchor({ href, children }: { href: string; children: ReactNode }) {
  if (!/^(https?|mailto):/i.test(href)) return children;
  return (
    <a href={href} rel="noreferrer noopener">
      {children}
    </a>
  );
}
