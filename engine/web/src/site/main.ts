// The page with the engine in it, which needs no server. scripts/build-site makes its folder.

import '../main.js';

// The page works without a network from its second visit on.
if (isSecureContext) void navigator.serviceWorker.register('sw.js');
