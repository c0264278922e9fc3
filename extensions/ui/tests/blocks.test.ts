import { flushSync, mount, unmount } from "svelte";
import { expect, it } from "vitest";
import type { Turn } from "../src/protocol/types";
import Blocks from "../src/view/Blocks.svelte";

it("shows as code what a notice or a hint marks as code, and nothing else as markup", () => {
  const turn = {
    state: "failed",
    blocks: [
      { kind: "notice", text: "`octo <trust>` allows <b>it</b>" },
      { kind: "error", message: "No", hint: "`/help` and a ` alone" },
    ],
  } as unknown as Turn;
  const blocks = mount(Blocks, { target: document.body, props: { turn } });
  flushSync();

  const codes = [...document.querySelectorAll("code")].map((code) => code.textContent);
  expect(codes).toEqual(["octo <trust>", "/help"]);
  expect(document.querySelector(".octo-notice")?.textContent).toBe("octo <trust> allows <b>it</b>");
  expect(document.querySelector(".octo-error")?.textContent).toContain("/help and a ` alone");
  void unmount(blocks);
});
