// Starts the deck, and makes what is too large for a slide as much smaller as it must be, and no more.
const HEIGHT = 720;
const SMALLEST = 0.7; // then it scrolls

function fit(slide) {
  if (!slide || slide.dataset.fitted) return;
  const parts = [...slide.children].filter((part) => part.tagName !== "ASIDE" && part.tagName !== "SECTION");
  for (let size = 1; slide.scrollHeight > HEIGHT && size > SMALLEST; size -= 0.03)
    parts.forEach((part) => (part.style.zoom = size));
  if (slide.scrollHeight > HEIGHT) Object.assign(slide.style, { height: `${HEIGHT}px`, overflowY: "auto" });
  slide.dataset.fitted = "yes";
}

Reveal.initialize({
  controls: true, progress: true, hash: true, slideNumber: "c/t", transition: "none", center: false,
  width: 1280, height: HEIGHT, margin: 0.02, plugins: [RevealNotes], pdfSeparateFragments: false,
}).then(() => fit(Reveal.getCurrentSlide()));
Reveal.on("slidechanged", (event) => fit(event.currentSlide));
