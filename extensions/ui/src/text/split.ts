/** Where a growing Markdown text can be cut, so that what is finished is rendered once. */

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const CONTINUES = /^(\s|[-*+>|]|\d+[.)]\s)/;

/**
 * The offset after which `text` may still change its meaning; everything between `from`, an
 * earlier result, and there stands on its own.
 */
export function finishedUpTo(text: string, from: number): number {
  const scan: Scan = { fence: "", math: false, blank: false };
  let finished = from;
  for (let start = from; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const line = text.slice(start, end < 0 ? undefined : end);
    const whole = end >= 0 || /^\p{L}/u.test(line);
    if (whole && begins(line, scan)) finished = start;
    if (end < 0) break;
    step(line, scan);
    start = end + 1;
  }
  return finished;
}

interface Scan {
  fence: string;
  math: boolean;
  blank: boolean;
}

/** Whether a new block begins that nothing before it can reach into. */
function begins(line: string, { fence, math, blank }: Scan): boolean {
  return blank && !fence && !math && line.trim() !== "" && !CONTINUES.test(line);
}

function step(line: string, scan: Scan): void {
  const mark = FENCE.exec(line)?.[1] ?? "";
  const words = line.trim();
  if (scan.fence) {
    if (mark.startsWith(scan.fence) && words === mark) scan.fence = "";
  } else if (mark) scan.fence = mark;
  else if (words === "$$" || words.startsWith("$$") !== words.endsWith("$$"))
    scan.math = !scan.math;
  scan.blank = words === "";
}
