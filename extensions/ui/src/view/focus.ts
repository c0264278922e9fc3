/** The keyboard after a button is gone: the notebook must get it, not the bare page. */

import type { Attachment } from "svelte/attachments";

const HOMES = ".jp-Cell, .jp-Notebook";

function focused(element: HTMLElement): boolean {
  element.focus({ preventScroll: true });
  return element.ownerDocument.activeElement === element;
}

/** The cell and the notebook around, the nearest first. */
function homesOf(element: HTMLElement): HTMLElement[] {
  const home = element.parentElement?.closest<HTMLElement>(HOMES);
  return home ? [home, ...homesOf(home)] : [];
}

/** When the focused element in `root` is removed or disabled, pass the focus on. */
export function keepFocus(first: () => boolean = () => false): Attachment<HTMLElement> {
  return (root) => {
    const page = root.ownerDocument;
    let held: HTMLElement | undefined;
    // Asked while it is focused: when the view is removed, nothing is around it any more.
    let homes: HTMLElement[] = [];

    const lost = () =>
      [null, page.body, held as Element].includes(page.activeElement) &&
      (!held?.isConnected || held.matches(":disabled"));
    const passOn = () => {
      if (!held || !lost()) return;
      held = undefined;
      if (first() || homes.some(focused)) return;
      root.tabIndex = -1;
      focused(root);
    };
    const entered = (event: FocusEvent) => {
      held = event.target as HTMLElement;
      homes = homesOf(root);
    };
    // A removal may blur first: only what is still there afterwards was left on purpose.
    const left = (event: FocusEvent) => {
      const { target } = event;
      setTimeout(() => {
        if (held === target && page.activeElement !== held) held = undefined;
      });
    };
    const watch = new MutationObserver(passOn);
    const attributeFilter = ["disabled"];
    root.addEventListener("focusin", entered);
    root.addEventListener("focusout", left);
    watch.observe(root, { childList: true, subtree: true, attributes: true, attributeFilter });
    return () => {
      watch.disconnect();
      queueMicrotask(passOn);
    };
  };
}
