// Keeps the page's files, so that the page works without a network. scripts/build-site writes the
// files and their version above. A new version replaces the old one once no page is open.

const PREFIX = `azimuth ${registration.scope} `;

addEventListener('install', (event) => {
  const requests = FILES.map((file) => new Request(file, { cache: 'no-cache' }));
  event.waitUntil(caches.open(PREFIX + VERSION).then((cache) => cache.addAll(requests)));
});

addEventListener('activate', (event) => {
  const isOld = (name) => name.startsWith(PREFIX) && name !== PREFIX + VERSION;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(isOld).map((name) => caches.delete(name)))));
});

addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET') return;
  const kept = caches.open(PREFIX + VERSION).then((cache) => cache.match(request, { ignoreSearch: request.mode === 'navigate' }));
  event.respondWith(kept.then((response) => response ?? fetch(request)));
});
