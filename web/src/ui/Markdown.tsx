import MarkdownIt, { type Token } from 'markdown-it';
import { createElement, Fragment, useMemo, type ReactNode } from 'react';
import css from './Markdown.module.css';

// HTML is off, which is the parser's own default: it stays the text that it is. Words that look like a host are none,
// since files are called so too (README.md).
const parser = new MarkdownIt({ html: false, linkify: true });
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

/** What may be made of a text, and by which element: its headings stand below those of the page. */
const elements: Partial<Record<string, string>> = {
  ...{ h1: 'h3', h2: 'h4', h3: 'h5', h4: 'h6', h5: 'h6', h6: 'h6' },
  ...{ p: 'p', ul: 'ul', ol: 'ol', li: 'li', blockquote: 'blockquote', em: 'em', strong: 'strong', s: 's' },
  ...{ table: 'table', thead: 'thead', tbody: 'tbody', tr: 'tr', th: 'th', td: 'td' },
};

/** A text in Markdown that somebody else wrote: nothing in it is HTML, is fetched, or runs. */
export function Markdown({ text }: { text: string }) {
  const nodes = useMemo(() => drawn(parser.parse(text, {})), [text]);
  return <div className={css.text}>{nodes}</div>;
}

/** Tokens open and close what they hold: each closing one makes an element of all since its opening one. */
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
  if (open.hidden) return children; // the paragraph of an item that has one line
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

/** A block runs the way of its own words, with all in it: the marks of a list stand where its lines begin. */
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
      return token.content; // of a picture, the words that stand for it: the page fetches none
  }
}

/** Only to pages elsewhere: a path in the text is none of the Studio's. */
function Anchor({ href, children }: { href: string; children: ReactNode }) {
  if (!/^(https?|mailto):/i.test(href)) return children;
  return (
    <a href={href} rel="noreferrer noopener">
      {children}
    </a>
  );
}
