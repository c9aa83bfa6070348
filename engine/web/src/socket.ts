// The WebSocket of `azimuth serve`. After a restart, the server has another token, and no attempt to
// connect can succeed.

import type { Connection, Link } from './engine.js';
import { texts } from './language.js';
import type { FileGames, Message, ServerEvent } from './protocol.js';

/** Pauses before the next attempts to connect, in milliseconds. */
const PAUSES = [250, 500, 1000, 2000, 5000];

class Socket implements Link {
  private socket: WebSocket | null = null;
  private attempts = 0;

  open(onState: (state: Connection) => void, hear: (event: ServerEvent) => void): void {
    const address = new URL('socket', location.href);
    address.protocol = 'ws:';
    onState(this.attempts === 0 ? 'connecting' : 'lost');
    const socket = new WebSocket(address);
    this.socket = socket;
    socket.addEventListener('open', () => {
      this.attempts = 0;
      onState('open');
    });
    socket.addEventListener('message', (message) => hear(JSON.parse(String(message.data)) as ServerEvent));
    socket.addEventListener('close', () => void this.closed(onState, hear));
  }

  private async closed(onState: (state: Connection) => void, hear: (event: ServerEvent) => void): Promise<void> {
    onState('lost');
    // A browser does not tell a page why a WebSocket was refused.
    if (this.attempts > 0 && (await isRefused())) {
      onState('renewed');
      return;
    }
    const pause = PAUSES[Math.min(this.attempts, PAUSES.length - 1)];
    this.attempts += 1;
    setTimeout(() => this.open(onState, hear), pause);
  }

  isOpen(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  send(message: Message): void {
    this.socket?.send(JSON.stringify(message));
  }

  another(): Link {
    return new Socket();
  }
}

export const link: Link = new Socket();

/** Whether the server answers, and refuses the token of this page. */
async function isRefused(): Promise<boolean> {
  try {
    return (await fetch('./', { method: 'HEAD', cache: 'no-store' })).status === 403;
  } catch {
    return false;
  }
}

/** The games that the engine reads in a text or a file. */
export async function gamesIn(text: Blob, name: string): Promise<FileGames> {
  const answer = await fetch(`games/${encodeURIComponent(name)}`, { method: 'POST', body: text }).catch(() => {
    throw new Error(texts.noAnswer);
  });
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return (await answer.json()) as FileGames;
}
