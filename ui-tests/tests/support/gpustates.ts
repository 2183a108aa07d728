// States of GPUs that no tape has, sent to the panel in the place of the server.
import type { Page, WebSocketRoute } from '@playwright/test';

const GIB = 2 ** 30;

type Json = Readonly<Record<string, unknown>>;

/** A process of this user's that is nobody's kernel; `changes` are fields of `memtrack.gpus/1`. */
export function madeProcess(pid: number, gib: number | null, changes: Json = {}): Json {
  return {
    pid,
    bytes: gib === null ? null : Math.round(gib * GIB),
    command: `python train-${pid}.py`,
    user: 'ada',
    started: Date.now() / 1000 - 3600,
    state: 'running',
    mine: true,
    kernel: null,
    end_command: `kill -TERM ${pid}`,
    end_why: { en: 'It is yours.', zh_CN: '它是你的。' },
    notebook: null,
    ...changes
  };
}

/** A kernel of the server, of the notebook `path`. */
export function madeKernel(path: string, changes: Json = {}): Json {
  return {
    id: `kernel-of-${path}`,
    path,
    name: path,
    type: 'notebook',
    state: 'idle',
    last_activity: new Date().toISOString(),
    ...changes
  };
}

/** A device of 80 GiB with these processes and nothing else in use. */
export function madeDevice(index: number, processes: readonly Json[], changes: Json = {}): Json {
  const total = 80 * GIB;
  const used = processes.reduce((sum, { bytes }) => sum + Number(bytes), 0);
  return {
    uuid: `GPU-${index}`,
    index,
    name: 'NVIDIA H100 80GB HBM3',
    kind: 'gpu',
    total,
    used,
    free: total - used,
    reserved: null,
    utilisation: 50,
    bandwidth: 25,
    temperature_c: 60,
    power_w: 400,
    power_limit_w: 700,
    flags: [],
    parent: null,
    status: null,
    lists_processes: true,
    processes,
    ...changes
  };
}

/** Sends states to the panel of a page; to be made before the panel is opened. */
export class MadeServer {
  private readonly _sockets = new Set<WebSocketRoute>();
  private _latest = '';
  private _sequence = 0;

  constructor(private readonly _page: Page) {}

  async listen(): Promise<void> {
    await this._page.routeWebSocket('**/memtrack/api/gpus/stream*', socket => {
      this._sockets.add(socket);
      socket.onClose(() => this._sockets.delete(socket));
      if (this._latest !== '') {
        socket.send(this._latest);
      }
    });
  }

  /** Sends the devices as a state; `changes` are fields of `memtrack.gpus/1`. */
  show(devices: readonly Json[], changes: Json = {}): void {
    this._sequence += 1;
    this.say(
      JSON.stringify({
        schema: 'memtrack.gpus/1',
        time: Date.now() / 1000,
        sequence: this._sequence,
        interval_ms: 1000,
        kernels: 'local',
        status: { id: 'ok', message: { en: '' }, advice: { en: '' }, detail: '' },
        devices,
        ...changes
      })
    );
  }

  /** Sends any text. */
  say(text: string): void {
    this._latest = text;
    this._sockets.forEach(socket => socket.send(text));
  }
}
