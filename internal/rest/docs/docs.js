// Makes the reference quicker to use; the page is whole without it. It builds
// its elements by hand and sets text only, so it needs no trusted type.
"use strict";

// Filter: hides the entries of the navigation that lack one of the words.
for (const nav of document.querySelectorAll(".nav")) {
  const find = nav.querySelector(".find");
  const input = find.querySelector("input");
  const found = find.querySelector(".found");
  const groups = [...nav.querySelectorAll(".navgroup")];
  const entries = [...nav.querySelectorAll("li")].map((li) => ({
    li,
    link: li.querySelector("a"),
    text: (li.textContent + " " + (li.dataset.text ?? "")).toLowerCase(),
  }));
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const entry of entries) {
      entry.li.hidden = !words.every((word) => entry.text.includes(word));
      if (!entry.li.hidden) count++;
    }
    for (const group of groups) group.hidden = !group.querySelector("li:not([hidden])");
    found.textContent = words.length === 0 ? "" : count === 0 ? "Nothing matches." : `${count} found`;
  };
  find.hidden = false;
  input.addEventListener("input", filter);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && input.value !== "") {
      event.preventDefault();
      input.value = "";
      filter();
    } else if (event.key === "Enter") {
      entries.find((entry) => !entry.li.hidden)?.link.click();
    }
  });
}

// "/" goes to the filter that is on the screen.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
  const fold = document.querySelector(".fold");
  if (fold.offsetParent) fold.firstElementChild.open = true;
  const input = [...document.querySelectorAll(".find input")].find((one) => one.offsetParent);
  if (!input) return;
  event.preventDefault();
  input.focus();
});

// Choosing an operation folds the phone's navigation away.
const folded = document.querySelector(".fold details");
folded.addEventListener("click", (event) => {
  if (event.target.closest("a")) folded.open = false;
});

// Copy buttons.
if (navigator.clipboard) {
  for (const box of document.querySelectorAll(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(box.querySelector("code").textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => (button.textContent = "Copy"), 1600);
    });
    button.setAttribute("aria-live", "polite");
    box.append(button);
  }
}

// The section in view is marked in the navigation and kept in sight there.
const side = document.querySelector(".side");
const links = new Map();
for (const link of side.querySelectorAll("a")) {
  const id = decodeURIComponent(link.hash.slice(1));
  if (document.getElementById(id)) links.set(id, link);
}
let current = null;
const mark = (id) => {
  const link = links.get(id);
  if (!link || link === current) return;
  current?.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  current = link;
  const top = link.offsetTop - side.scrollTop;
  if (top < 80 || top > side.clientHeight - 80) side.scrollTop = link.offsetTop - side.clientHeight / 2;
};
const watcher = new IntersectionObserver(
  (seen) => {
    for (const one of seen) if (one.isIntersecting) mark(one.target.id);
  },
  { rootMargin: "-72px 0px -85% 0px" },
);
for (const id of links.keys()) {
  const target = document.getElementById(id);
  if (!target.classList.contains("group")) watcher.observe(target);
}
