/** The lines that two texts differ in, as a unified diff without file names. */

const MOST = 4_000_000; // pairs of lines that are compared

export function lineDiff(before: string, after: string): string {
  const old = before.split("\n");
  const now = after.split("\n");
  if (old.length * now.length > MOST) return [...mark("-", old), ...mark("+", now)].join("\n");
  const common = lengths(old, now);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(` ${old[i]}`);
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && common[i + 1]![j]! >= common[i]![j + 1]!)) {
      lines.push(`-${old[i]}`);
      i += 1;
    } else {
      lines.push(`+${now[j]}`);
      j += 1;
    }
  }
  return lines.join("\n");
}

/** The length of the longest common rest, from each pair of lines on. */
function lengths(old: string[], now: string[]): number[][] {
  const table = Array.from({ length: old.length + 1 }, () =>
    new Array<number>(now.length + 1).fill(0),
  );
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      table[i]![j] =
        old[i] === now[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!);
  return table;
}

function mark(sign: string, lines: string[]): string[] {
  return lines.map((line) => sign + line);
}
