// The light that was chosen before, set before anything is painted: no module, since modules run after the first frame.

const light = localStorage.getItem("perdure-light");
if (light) document.documentElement.dataset.light = light;
