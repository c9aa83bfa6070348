// The page with the engine in it, which needs no server. scripts/build-site makes its folder.

import '../main.js';
import { link, wantsSelective } from './link.js';
import { byId, button, element } from '../dom.js';
import { texts } from '../language.js';
import { megabytes } from './files.js';
import { SELECTIVE } from './module.js';

const choice = element('p', { id: 'network', class: 'note' });

/** Offers the weights of the selective search, which are large. */
function draw(): void {
  const wants = wantsSelective();
  const { small, large, fetch, leave } = texts.network;
  const change = button(wants ? leave : fetch(megabytes(SELECTIVE)), () => {
    change.disabled = true;
    void link.useSelective(!wants).then(draw);
  });
  choice.replaceChildren(wants ? large : small, ' ', change);
}

draw();
byId('panel-side').append(choice);
// The page works without a network from its second visit on.
if (isSecureContext) void navigator.serviceWorker.register('sw.js');
