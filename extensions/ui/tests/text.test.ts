import { describe, expect, it } from "vitest";
import { markdownHtml } from "../src/text/markdown";
import { formulaAt } from "../src/text/math";
import { finishedUpTo } from "../src/text/split";
import { costText, deltaOf, footerOf, gistOf } from "../src/text/words";
import type { ToolBlock, Turn } from "../src/protocol/types";
import { USAGE } from "./usage";

const LONG = [
  "# Title\n\nFirst paragraph\nof two lines.\n\n- a\n- b\n\n  still b\n\n- c\n\nAfter the list.\n\n",
  "```python\nx = 1\n\n\ny = 2\n```\n\n> quote\n\n$$\na\n\nb\n$$\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n",
  "1. one\n\n2. two\n\nThe end.\n",
].join("");

describe("cutting a growing text", () => {
  it("never changes what is shown, whatever the size of the pieces", () => {
    const whole = markdownHtml(LONG);
    for (const step of [1, 7, 40]) {
      let offset = 0;
      let html = "";
      for (let end = step; end < LONG.length + step; end += step) {
        const next = finishedUpTo(LONG.slice(0, end), offset);
        if (next > offset) html += markdownHtml(LONG.slice(offset, next));
        offset = next;
      }
      expect(html + markdownHtml(LONG.slice(offset))).toBe(whole);
      expect(offset).toBeGreaterThan(LONG.length / 2);
    }
  });

  it("keeps an open code block whole", () => {
    const text = "Intro\n\n```py\na = 1\n\nb = 2\n\nc = 3\n";
    expect(finishedUpTo(text, 0)).toBe("Intro\n\n".length);
  });
});

describe("model text", () => {
  it.each([
    ["<script>alert(1)</script>", "script"],
    ["<img src=x onerror=alert(1)>", "<img"],
    ["![x](https://far.example/x.png)", "<img"],
    ["[x](javascript:alert(1))", "href"],
    ["[x](data:text/html,hi)", "href"],
    ["[x](/logout)", "href"],
    ["<iframe src=https://far.example></iframe>", "<iframe"],
  ])("%s runs and loads nothing", (text, gone) => {
    const box = document.createElement("div");
    box.innerHTML = markdownHtml(text);
    expect(box.querySelectorAll("script,img,iframe,[onerror],a[href^='/'],a[href^='j']")).toHaveLength(0);
    if (gone === "href") expect(box.querySelector("a")?.getAttribute("href") ?? null).toBeNull();
  });

  it("keeps pictures that travel in the text, tables and code", () => {
    const html = markdownHtml(
      "![dot](data:image/png;base64,AAAA)\n\n|a|b|\n|:-:|-|\n|1<br>2|3|\n\n```py\nx = 1\n```",
    );
    expect(html).toContain('<img src="data:image/png;base64,AAAA" alt="dot">');
    expect(html).toContain('<th style="text-align:center">a</th>');
    expect(html).toContain("1<br>");
    expect(html).toContain('<pre class="octo-code"><code>');
  });

  it("opens links in a new tab that cannot reach back", () => {
    expect(markdownHtml("[a](https://a.example)")).toBe(
      '<p><a href="https://a.example" target="_blank" rel="noopener noreferrer">a</a></p>\n',
    );
  });
});

describe("formulas", () => {
  it.each([
    ["$a_b$ and", { formula: "a_b", display: false, length: 5 }],
    ["\\(x\\)", { formula: "x", display: false, length: 5 }],
    ["$$\nx\n$$", { formula: "\nx\n", display: true, length: 7 }],
    ["\\[y\\]", { formula: "y", display: true, length: 5 }],
  ])("are found in %s", (text, found) => {
    expect(formulaAt(text)).toEqual(found);
  });

  it.each(["$5 and $10", "$ 5 $", "$HOME", "$$", "\\(open"])("are not seen in %s", (text) => {
    expect(formulaAt(text)).toBeNull();
  });
});

describe("what a call changed in files", () => {
  const delta = (diff: string) => deltaOf({ diff } as ToolBlock);

  it.each([
    ["", ""],
    ["Binary file f: 1 bytes -> 2 bytes\n", ""],
    ["--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n a\n--- b\n+++ c\n+d\n", "+2 \u22121"],
  ])("is counted in lines: %j", (diff, expected) => {
    expect(delta(diff)).toBe(expected);
  });
});

describe("the line that tells what a call does", () => {
  const gist = (args: unknown) => gistOf({ arguments: JSON.stringify(args) } as ToolBlock);

  it.each([
    ["total = 1", "total = 1"],
    ["total = 1\n\n", "total = 1"],
    ["total = 1\n\ntotal", "total = 1 … +1 line"],
    ["\nimport time\nfor n in range(9):\n    time.sleep(n)\nn", "import time … +3 lines"],
    ["", ""],
  ])("says of %j how many lines it is", (code, expected) => {
    expect(gist({ code })).toBe(expected);
  });

  it("names the arguments of other tools", () => {
    expect(gist({ path: "a.txt", limit: 3 })).toBe('path="a.txt", limit=3');
  });
});

describe("what a turn cost", () => {
  it.each([
    [0, 0, 2, ""],
    [0.0042, 2, 2, "$0.0042"],
    [0.00001, 1, 1, "<$0.0001"],
    [0, 1, 1, "$0"],
    [1234.5, 1, 1, "$1,234.50"],
    [0.0042, 1, 2, "at least $0.0042"],
    [0.00001, 1, 2, ""],
  ])("is shown as far as it is known: %d of %d of %d", (cost, priced, requests, text) => {
    expect(costText({ ...USAGE, cost, priced, requests })).toBe(text);
  });

  it("stands in the footer between tokens and time", () => {
    const usage = { ...USAGE, input_tokens: 1200, output_tokens: 5, requests: 1 };
    const turn = { model: "m", seconds: 2, usage } as Turn;
    expect(footerOf(turn)).toBe("m · 1,200 tokens in · 5 out · 2.0 s");
    const priced = { ...usage, cost: 0.5, priced: 1 };
    expect(footerOf({ ...turn, usage: priced })).toBe(
      "m · 1,200 tokens in · 5 out · $0.5000 · 2.0 s",
    );
  });
});
