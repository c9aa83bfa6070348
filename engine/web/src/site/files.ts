// The files of the engine: the module, and the weights, which the browser keeps.

import { element } from '../dom.js';
import { texts } from '../language.js';

interface WeightsFile {
  path: string;
  bytes: number;
  sha256: string;
}

/** What scripts/build-site writes into the page: the weights files by their numbers in the module. */
const FILES = JSON.parse(document.getElementById('weights')?.textContent ?? '[]') as WeightsFile[];

const CACHE = 'azimuth-weights';

let compiled: Promise<WebAssembly.Module> | null = null;

/** The module, compiled once for all workers. */
export function module(): Promise<WebAssembly.Module> {
  compiled ??= fetched('azimuth.wasm').then(async (response) =>
    // Some hosts do not know the type.
    response.headers.get('Content-Type') === 'application/wasm'
      ? WebAssembly.compileStreaming(response)
      : WebAssembly.compile(await response.arrayBuffer()),
  );
  compiled.catch(() => (compiled = null));
  return compiled;
}

/** A weights file: from the browser's cache, or else from the host. */
export async function weights(which: number): Promise<Uint8Array> {
  const { path, bytes, sha256 } = file(which);
  const address = `${path}?sha256=${sha256}`;
  // Without https there is no cache.
  const cache = isSecureContext ? await caches.open(CACHE) : null;
  const known = await cache?.match(address);
  if (known) return new Uint8Array(await known.arrayBuffer());
  const content = await downloaded(path, address, bytes);
  if (isSecureContext && (await hashOf(content)) !== sha256) throw new Error(`${path}: not the file that belongs to this page`);
  if (cache) await replace(cache, address, content);
  return content;
}

function file(which: number): WeightsFile {
  const found = FILES[which];
  if (!found) throw new Error('the page names no weights');
  return found;
}

async function fetched(path: string, address = path): Promise<Response> {
  const response = await fetch(address).catch(() => null);
  if (!response?.ok) throw new Error(`cannot fetch ${path}${response ? `: ${response.status}` : ''}`);
  return response;
}

/** Downloads a file, and shows the progress. */
async function downloaded(path: string, address: string, bytes: number): Promise<Uint8Array> {
  const bar = element('progress', { class: 'download', max: bytes, value: 0, 'aria-label': texts.connection.loading });
  document.body.append(bar);
  try {
    const { body } = await fetched(path, address);
    const content = new Uint8Array(bytes);
    let length = 0;
    for (const reader = body?.getReader(); reader; ) {
      const { done, value } = await reader.read();
      if (done) break;
      if (length + value.length > bytes) throw new Error(`${path} is too long`);
      content.set(value, length);
      bar.value = length += value.length;
    }
    return content.subarray(0, length);
  } finally {
    bar.remove();
  }
}

async function hashOf(content: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', content as BufferSource));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Keeps a file in place of its earlier versions. */
async function replace(cache: Cache, address: string, content: Uint8Array): Promise<void> {
  try {
    await cache.delete(address, { ignoreSearch: true });
    await cache.put(address, new Response(content as BodyInit));
  } catch {
    // There is no room for it.
  }
}
