/** LaTeX between $…$, $$…$$, \(…\) and \[…\]. A view may bring a typesetter; else it is shown. */

import type MarkdownIt from "markdown-it";
import { escapeHtml } from "./code";

export type Typeset = (formula: string, display: boolean) => string;

const PAIRS: [string, string, boolean][] = [
  ["$$", "$$", true],
  ["\\[", "\\]", true],
  ["\\(", "\\)", false],
  ["$", "$", false],
];
const LIMIT = 4_000;
let typeset: Typeset = (formula, display) =>
  `<code>${escapeHtml(display ? `$$${formula}$$` : `$${formula}$`)}</code>`;

export function useTypesetter(typesetter: Typeset): void {
  typeset = typesetter;
}

export function math(md: InstanceType<typeof MarkdownIt>): void {
  md.inline.ruler.before("escape", "math", (state, silent) => {
    const found = formulaAt(state.src.slice(state.pos, Math.min(state.posMax, state.pos + LIMIT)));
    if (!found) return false;
    if (!silent) {
      const token = state.push("math", "math", 0);
      token.content = found.formula;
      token.hidden = !found.display;
    }
    state.pos += found.length;
    return true;
  });
  md.renderer.rules.math = (tokens, index) => {
    const token = tokens[index]!;
    return typeset(token.content.trim(), !token.hidden);
  };
}

/** The formula that `text` begins with. Prices ("$5 and $10") are no formulas. */
export function formulaAt(
  text: string,
): { formula: string; display: boolean; length: number } | null {
  for (const [open, close, display] of PAIRS) {
    if (!text.startsWith(open)) continue;
    const end = text.indexOf(close, open.length);
    const formula = text.slice(open.length, end);
    if (end < 0 || !formula.trim()) return null;
    if (open === "$" && (/^\s|\s$/.test(formula) || /\d/.test(text[end + 1] ?? ""))) return null;
    return { formula, display, length: end + close.length };
  }
  return null;
}
