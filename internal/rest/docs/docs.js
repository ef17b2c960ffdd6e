// Adds a filter and copy buttons, and highlights the current section. The page works
// without them. The script sets only text content, so it needs no trusted types.
"use strict";

// The filter shows only the navigation entries that contain all words of the input.
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
    found.textContent = words.length === 0 ? "" : count === 0 ? "No matches." : `${count} found`;
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

// "/" focuses the visible filter.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
  const fold = document.querySelector(".fold");
  if (fold.offsetParent) fold.firstElementChild.open = true;
  const input = [...document.querySelectorAll(".find input")].find((element) => element.offsetParent);
  if (!input) return;
  event.preventDefault();
  input.focus();
});

// On narrow screens, choosing an operation closes the navigation.
const details = document.querySelector(".fold details");
details.addEventListener("click", (event) => {
  if (event.target.closest("a")) details.open = false;
});

// The page keeps the language of the examples. The style sheet shows only those.
const language = document.getElementById("language");
try {
  const kept = localStorage.getItem("reference-language");
  if ([...language.options].some((option) => option.value === kept)) language.value = kept;
} catch {
  // The browser forbids storage.
}
language.addEventListener("change", () => {
  try {
    localStorage.setItem("reference-language", language.value);
  } catch {
    // The choice lasts until the page is closed.
  }
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
        button.textContent = "Not copied";
      }
      setTimeout(() => (button.textContent = "Copy"), 1600);
    });
    button.setAttribute("aria-live", "polite");
    box.append(button);
  }
}

// The navigation highlights the section in view and scrolls to its entry.
const side = document.querySelector(".side");
const links = new Map();
for (const link of side.querySelectorAll("a")) {
  const id = decodeURIComponent(link.hash.slice(1));
  if (document.getElementById(id)) links.set(id, link);
}
let current = null;
const setCurrent = (id) => {
  const link = links.get(id);
  if (!link || link === current) return;
  current?.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  current = link;
  const top = link.offsetTop - side.scrollTop;
  if (top < 80 || top > side.clientHeight - 80) side.scrollTop = link.offsetTop - side.clientHeight / 2;
};
const observer = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) if (entry.isIntersecting) setCurrent(entry.target.id);
  },
  { rootMargin: "-72px 0px -85% 0px" },
);
for (const id of links.keys()) {
  const target = document.getElementById(id);
  if (!target.classList.contains("group")) observer.observe(target);
}
