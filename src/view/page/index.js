// SPDX-License-Identifier: MIT
// Opens the Firefox Profiler in a window and hands the profile over by messages: the window makes no
// request to this machine, so no browser rule about loopback addresses applies.
const button = document.getElementById('hand-over');
const state = document.getElementById('state');
const ASK_EVERY_MS = 100;

function handOver(target, origin, profile) {
  const asking = setInterval(() => target.postMessage({name: 'ready:request'}, origin), ASK_EVERY_MS);
  addEventListener('message', (event) => {
    if (event.source !== target || event.origin !== origin || event.data.name !== 'ready:response')
      return;
    clearInterval(asking);
    target.postMessage({name: 'inject-profile', profile}, origin);
    state.textContent = 'The profile was handed over.';
  });
}

button.addEventListener('click', async () => {
  const profiler = button.dataset.profiler;
  const target = open(new URL('/from-post-message/', profiler));
  if (!target) {
    state.textContent = 'The browser blocked the new window: allow windows of this page, and press the button again.';
    return;
  }
  state.textContent = 'Reading the profile…';
  const reply = await fetch('embedded.json');
  handOver(target, new URL(profiler).origin, await reply.arrayBuffer());
});
