"use strict";
(() => {
  // The lines of a file are loaded when its part of the page opens.
  const load = async (details) => {
    const link = details.querySelector("a.lines");
    if (!details.open || !link || link.dataset.asked) return;
    link.dataset.asked = "1";
    const answer = await fetch(link.href.replace("/file/", "/lines/"));
    if (!answer.ok) return;
    const part = new DOMParser().parseFromString(await answer.text(), "text/html");
    link.closest("p").replaceWith(...part.body.childNodes);
  };
  for (const details of document.querySelectorAll(".file > details")) {
    details.addEventListener("toggle", () => load(details));
  }
  // Shows the events of a run while it runs.
  const live = document.querySelector("#live[data-events]");
  if (live) {
    const source = new EventSource(live.dataset.events);
    source.addEventListener("change", (event) => { live.innerHTML = event.data; });
    source.addEventListener("over", () => {
      source.close();
      location.reload();
    });
  }
  // The keys are the same as in the review in a terminal.
  const boxes = () => [...document.querySelectorAll("input[name=take]")].filter((b) => b.offsetParent);
  let here = null;
  const go = (box) => {
    if (here) here.parentElement.classList.remove("here");
    here = box;
    if (!box) return;
    box.parentElement.classList.add("here");
    box.focus({ preventScroll: true });
    box.scrollIntoView({ block: "center" });
  };
  const fileOf = (box) => box.closest(".file");
  const ofFile = (box) => [...fileOf(box).querySelectorAll("input[name=take]")];
  // Taking the first hunk takes the file, and leaving the last hunk leaves the file, unless it has a new name or mode.
  const follow = (box) => {
    const [file, ...hunks] = ofFile(box);
    const renamed = file.checked && fileOf(box).matches(".renames");
    if (box !== file) file.checked = renamed || hunks.some((h) => h.checked);
    else for (const h of hunks) h.checked = file.checked;
    // Marks the left files in the tree.
    const link = document.querySelector(`.tree a[href="#${fileOf(box).id}"]`);
    const all = hunks.every((h) => h.checked);
    const state = !file.checked ? "left" : all ? "" : "partly left";
    if (link) link.parentElement.querySelector(".state").textContent = state;
  };
  const set = (box, taken) => {
    box.checked = taken;
    follow(box);
  };
  const after = (all, box) => {
    const last = ofFile(box).filter((b) => all.includes(b)).pop();
    return all.indexOf(last) + 1;
  };
  const decide = (all, n, taken) => {
    set(all[n], taken);
    return ofFile(all[n])[0] === all[n] ? after(all, all[n]) : n + 1;
  };
  const rest = (all, n, taken) => {
    const end = after(all, all[n]);
    all.slice(n, end).forEach((b) => set(b, taken));
    return end;
  };
  const every = (all, n, taken) => {
    all.slice(n).forEach((b) => set(b, taken));
    return all.length - 1;
  };
  // Shows the steps that made a hunk, or all hunks of a file.
  const steps = (box) => {
    const at = box.closest(".at") || fileOf(box);
    const names = [...at.querySelectorAll(".by")].flatMap((by) => by.textContent.replace(/^by /, "").split(", "));
    return [...new Set(names)].sort().join();
  };
  const like = (all, n) => {
    const by = steps(all[n]);
    const hunks = (b) => ofFile(b)[0] === b ? ofFile(b) : [b]; // these steps must have made each hunk of a file
    for (const b of all.slice(n)) if (by && hunks(b).every((h) => steps(h) === by)) set(b, true);
    return decide(all, n, true);
  };
  const fold = (all, n) => {
    const lines = fileOf(all[n]).querySelector("details");
    lines.open = !lines.open;
    return all.indexOf(ofFile(all[n])[0]);
  };
  const keys = {
    y: (all, n) => decide(all, n, true),
    n: (all, n) => decide(all, n, false),
    a: (all, n) => rest(all, n, true),
    d: (all, n) => rest(all, n, false),
    A: (all, n) => every(all, n, true),
    D: (all, n) => every(all, n, false),
    t: like,
    p: fold,
    j: (all, n) => n + 1,
    b: (all, n) => n - 1,
  };
  // A key that ends a review moves to its button, and Enter presses the button.
  const ends = { q: ".decide input[type=text], .decide .yes", Q: ".decide .no" };
  document.addEventListener("change", (event) => {
    if (event.target.matches("input[name=take]")) follow(event.target);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input[type=text], textarea")) return;
    if (event.key === "?") {
      const help = document.querySelector(".keys");
      if (help) help.open = !help.open;
      return;
    }
    const button = ends[event.key] && document.querySelector(ends[event.key]);
    if (button) {
      event.preventDefault();
      button.focus();
      return;
    }
    const key = keys[event.key], all = boxes();
    if (!key || all.length === 0) return;
    event.preventDefault();
    const to = key(all, Math.max(0, all.indexOf(here)));
    go(all[Math.max(0, Math.min(to, all.length - 1))]);
  });
})();
