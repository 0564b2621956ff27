// Reads Monaco's colours from the page's CSS variables, so that each colour is defined once.
import { currentTheme, onTheme } from '../state/theme';
import type { monaco as Monaco } from './monaco';

const tokens = [
  'bg0',
  'bg1',
  'bg2',
  'bg3',
  'line',
  'control',
  'fg',
  'fg2',
  'fg3',
  'accent',
  'ok',
  'warn',
  'err',
  'line-no',
  'ansi-magenta',
  'ansi-cyan',
] as const;
type Palette = Record<(typeof tokens)[number], string>;

export function followTheme(monaco: typeof Monaco): void {
  const show = (): void => {
    const contrast = matchMedia('(prefers-contrast: more)').matches;
    const theme = currentTheme();
    monaco.editor.defineTheme('studio', definition(theme === 'dark', readPalette()));
    monaco.editor.setTheme(contrast ? (theme === 'dark' ? 'hc-black' : 'hc-light') : 'studio');
  };
  show();
  onTheme(show);
}

function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(tokens.map((t) => [t, hex(style.getPropertyValue(`--${t}`).trim())])) as Palette;
}

const hex = (colour: string): string => (/^#...$/.test(colour) ? colour.replace(/[^#]/g, '$&$&') : colour);

function definition(dark: boolean, c: Palette): Monaco.editor.IStandaloneThemeData {
  const rule = (token: string, colour: string, fontStyle?: string): Monaco.editor.ITokenThemeRule => ({
    token,
    foreground: colour.slice(1),
    ...(fontStyle === undefined ? {} : { fontStyle }),
  });
  return {
    base: dark ? 'vs-dark' : 'vs',
    inherit: true,
    rules: [
      rule('', c.fg),
      rule('comment', c.fg3, 'italic'),
      rule('keyword', c['ansi-magenta']),
      rule('string', c.ok),
      rule('string.escape', c['ansi-cyan']),
      rule('regexp', c.err),
      rule('number', c.warn),
      rule('type', c['ansi-cyan']),
      rule('type.identifier', c['ansi-cyan']),
      rule('delimiter', c.fg2),
      rule('variable', c['ansi-cyan']),
      rule('variable.predefined', c['ansi-cyan']),
      rule('metatag', c.fg3),
      rule('attribute.name', c.accent),
      rule('attribute.value', c.ok),
      rule('string.key.json', c.accent),
      rule('string.value.json', c.ok),
      rule('keyword.json', c['ansi-magenta']),
    ],
    colors: {
      'editor.background': c.bg0,
      'diffEditor.border': c.control,
      'sash.hoverBorder': c.accent,
      'editor.foreground': c.fg,
      'editorLineNumber.foreground': c['line-no'],
      'editorLineNumber.activeForeground': c.fg,
      'editorLineNumber.dimmedForeground': c['line-no'],
      'editor.lineHighlightBackground': c.bg1,
      'editor.lineHighlightBorder': '#00000000',
      'editor.selectionBackground': `${c.accent}40`,
      'editor.inactiveSelectionBackground': `${c.accent}22`,
      'editor.wordHighlightBackground': `${c.accent}20`,
      'editor.findMatchBackground': `${c.warn}55`,
      'editor.findMatchHighlightBackground': `${c.warn}2a`,
      'editorCursor.foreground': c.accent,
      'editorIndentGuide.background1': c.bg2,
      'editorIndentGuide.activeBackground1': c.line,
      'editorBracketMatch.border': c.control,
      'editorBracketMatch.background': '#00000000',
      'editorBracketHighlight.foreground1': c.fg2,
      'editorBracketHighlight.foreground2': c.fg2,
      'editorBracketHighlight.foreground3': c.fg2,
      'editorWidget.background': c.bg1,
      'editorWidget.border': c.line,
      'editorHoverWidget.background': c.bg1,
      'editorHoverWidget.border': c.line,
      'editorSuggestWidget.background': c.bg1,
      'editorSuggestWidget.border': c.line,
      'editorSuggestWidget.foreground': c.fg,
      'editorSuggestWidget.selectedBackground': c.bg3,
      'editorSuggestWidget.selectedForeground': c.fg,
      'editorSuggestWidget.highlightForeground': c.accent,
      'editorSuggestWidget.focusHighlightForeground': c.accent,
      'list.hoverBackground': c.bg2,
      'list.focusBackground': c.bg3,
      'input.background': c.bg0,
      'input.border': c.control,
      'input.foreground': c.fg,
      focusBorder: c.accent,
      'editorError.foreground': c.err,
      'editorWarning.foreground': c.warn,
      'editorInfo.foreground': c.accent,
      'editorOverviewRuler.border': '#00000000',
      'scrollbar.shadow': '#00000000',
      'scrollbarSlider.background': `${c.control}40`,
      'scrollbarSlider.hoverBackground': `${c.control}70`,
      'scrollbarSlider.activeBackground': `${c.control}90`,
      'diffEditor.insertedTextBackground': `${c.ok}30`,
      'diffEditor.removedTextBackground': `${c.err}30`,
      'diffEditor.insertedLineBackground': `${c.ok}18`,
      'diffEditor.removedLineBackground': `${c.err}18`,
    },
  };
}
