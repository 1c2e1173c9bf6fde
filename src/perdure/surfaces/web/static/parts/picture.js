// Pictures are drawn as wide as the view is, so that their letters keep their size.

export function pictureWidth(share = 1) {
  const room = document.getElementById("content")?.clientWidth ?? 900;
  return Math.round(Math.max(290, Math.min(900, (room - 60) * share)));
}
