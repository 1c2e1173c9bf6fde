// Pictures are drawn as wide as the view is, so that their letters keep their size.

const TWO_COLUMNS = 870;

/** The width of a picture alone, or of one in two columns where there is room for two. */
export function pictureWidth(halved = false) {
  const room = (document.getElementById("content")?.clientWidth ?? 900) - 40;
  const width = halved && room >= TWO_COLUMNS ? (room - 16) / 2 : room;
  return Math.round(Math.max(280, Math.min(1100, width - 34)));
}
