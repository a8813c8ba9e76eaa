// Starts the deck, and makes what is too large for a slide as much smaller as it must be, and no more.
const HEIGHT = 720;
const SMALLEST = 0.7; // then it scrolls

// A formula that is wider than its line is set smaller; it would be cut off.
function shorten(formula) {
  const right = (node) => node.getBoundingClientRect().right;
  const [left, edge] = [formula.getBoundingClientRect().left, right(formula.closest("section"))];
  const size = (edge - left) / (Math.max(...[...formula.querySelectorAll("*")].map(right)) - left);
  if (size < 1) formula.style.fontSize = `${0.97 * size}em`;
}

function fit(slide) {
  if (!slide || slide.dataset.fitted) return;
  const parts = [...slide.children].filter((part) => part.tagName !== "ASIDE" && part.tagName !== "SECTION");
  slide.querySelectorAll("math").forEach(shorten);
  for (let size = 1; slide.scrollHeight > HEIGHT && size > SMALLEST; size -= 0.03)
    parts.forEach((part) => (part.style.zoom = size));
  if (slide.scrollHeight > HEIGHT) Object.assign(slide.style, { height: `${HEIGHT}px`, overflowY: "auto" });
  slide.dataset.fitted = "yes";
}

Reveal.initialize({
  controls: true, progress: true, hash: true, slideNumber: "c/t", transition: "none", center: false,
  navigationMode: "linear",
  width: 1280, height: HEIGHT, margin: 0.02, plugins: [RevealNotes], pdfSeparateFragments: false,
}).then(() => fit(Reveal.getCurrentSlide()));
Reveal.on("slidechanged", (event) => fit(event.currentSlide));
