/** Untrusted Markdown to harmless HTML; the same rules as octo_lab/notebook/render_markdown.py. */

import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";
import { escapeHtml, highlighted } from "./code";
import { math } from "./math";

const md = new MarkdownIt({ html: false, linkify: false, breaks: false });
math(md);

md.inline.ruler.before("html_inline", "line_break", (state, silent) => {
  const tag = /^<br ?\/?>/.exec(state.src.slice(state.pos, state.pos + 6))?.[0];
  if (!tag) return false;
  if (!silent) state.push("hardbreak", "br", 0);
  state.pos += tag.length;
  return true;
});
md.renderer.rules.fence = md.renderer.rules.code_block = (tokens, index) => {
  const token = tokens[index]!;
  return codeBlock(token.content.replace(/\n$/, ""), token.info.trim().split(/\s+/)[0] ?? "");
};
md.renderer.rules.image = (tokens, index) => {
  const token = tokens[index]!;
  const source = String(token.attrGet("src") ?? "");
  const words = escapeHtml(token.content || source);
  if (source.startsWith("data:")) return `<img src="${escapeHtml(source)}" alt="${words}">`;
  return `<a href="${escapeHtml(source)}">${words}</a>`;
};

export function codeBlock(text: string, language: string): string {
  return `<pre class="octo-code"><code>${highlighted(text, language)}</code></pre>`;
}

const purify = DOMPurify(window);
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
    if (!/^(https?|mailto):/i.test(node.getAttribute("href") ?? "")) node.removeAttribute("href");
  }
  if (node.tagName === "IMG" && !/^data:image\//i.test(node.getAttribute("src") ?? ""))
    node.removeAttribute("src");
  const style = node.getAttribute("style");
  if (style && !/^text-align: ?(left|right|center);?$/.test(style)) node.removeAttribute("style");
});
const RULES = {
  USE_PROFILES: { html: true, mathMl: true },
  FORBID_TAGS: ["style", "form", "input", "button", "textarea", "select", "video", "audio"],
  FORBID_ATTR: ["id", "name", "srcset", "action", "background", "poster"],
  ADD_ATTR: ["target"],
};

/** HTML that runs nothing, loads nothing from afar and opens links in a new tab. */
export function markdownHtml(text: string): string {
  return purify.sanitize(md.render(text), RULES);
}
