import type { Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

import { USAGE_TARGET, UsageComm } from '../usagecomm';

type Announce = (comm: Kernel.IComm) => void;

/** A kernel whose comms are the test's. */
class FakeKernel {
  readonly id = 'kernel';
  readonly handleComms = true;
  readonly isDisposed = false;
  readonly status = 'idle';
  readonly statusChanged = new Signal<this, Kernel.Status>(this);
  readonly disposed = new Signal<this, void>(this);
  readonly sent: unknown[] = [];
  comm: Kernel.IComm | undefined;
  announce: Announce | undefined;

  registerCommTarget(target: string, callback: Announce): void {
    expect(target).toBe(USAGE_TARGET);
    this.announce = callback;
  }

  removeCommTarget(): void {
    this.announce = undefined;
  }

  createComm(): Kernel.IComm {
    const comm = {
      isDisposed: false,
      open: (data: unknown) => this.sent.push(data),
      send: (data: unknown) => this.sent.push(data),
      close: () => this.sent.push('close')
    };
    this.comm = comm as unknown as Kernel.IComm;
    return this.comm;
  }

  says(data: unknown): void {
    void this.comm?.onMsg({ content: { data } } as Parameters<Kernel.IComm['onMsg']>[0]);
  }

  closes(): void {
    void this.comm?.onClose({} as Parameters<Kernel.IComm['onClose']>[0]);
  }
}

const USAGE = {
  schema: 'memtrack.usage/1',
  pid: 7,
  host: 'h',
  devices: [{ uuid: 'u', index: 0, allocated: 3, reserved: 4, peak: 5, context: null }]
};

function make(): { kernel: FakeKernel; comm: UsageComm } {
  const kernel = new FakeKernel();
  return { kernel, comm: new UsageComm(kernel as unknown as Kernel.IKernelConnection) };
}

describe('the comm to a kernel', () => {
  it('sends nothing before somebody watches, and one word when nobody does any more', () => {
    const { kernel, comm } = make();
    comm.unwatch();
    expect(kernel.sent).toEqual([]);
    comm.watch(1000, true);
    comm.watch(1000, true);
    kernel.says(USAGE);
    expect(comm.usage?.devices[0]).toMatchObject({ allocated: 3, context: undefined });
    comm.watch(500, true);
    comm.unwatch();
    comm.unwatch();
    expect(kernel.sent).toEqual([
      { interval_ms: 1000, watching: true },
      { watching: true, interval_ms: 500 },
      { watching: false }
    ]);
  });

  it('asks a kernel without memtrack once, and again when it announces itself', () => {
    const { kernel, comm } = make();
    comm.watch(1000, true);
    kernel.closes();
    comm.watch(1000, true);
    expect(kernel.sent).toHaveLength(1);
    kernel.announce?.({} as Kernel.IComm);
    expect(kernel.sent).toHaveLength(2);
    expect(comm.isOpen).toBe(true);
  });

  it('does not ask where nothing speaks for memtrack', () => {
    const { kernel, comm } = make();
    comm.watch(1000, false);
    expect(kernel.sent).toEqual([]);
    kernel.announce?.({} as Kernel.IComm);
    expect(kernel.sent).toHaveLength(1);
  });

  it('forgets what it heard when the kernel restarts', () => {
    const { kernel, comm } = make();
    comm.watch(1000, true);
    kernel.says(USAGE);
    kernel.statusChanged.emit('restarting');
    expect(comm.usage).toBeUndefined();
    expect(comm.isOpen).toBe(false);
  });

  it('frees and tells what went, why not, or that nobody is there', async () => {
    const { kernel, comm } = make();
    const freed = comm.free();
    kernel.says({ freed: { devices: [{ device: 'cuda:0', released: 9 }], text: '' } });
    await expect(freed).resolves.toEqual({ bytes: 9, text: '' });
    const refused = comm.free();
    kernel.says({ freed: null, refused: { en: 'busy' } });
    await expect(refused).resolves.toEqual({ refused: { en: 'busy' } });
    const silent = comm.free();
    kernel.closes();
    await expect(silent).resolves.toBeUndefined();
  });

  it('takes what it cannot read for nothing', () => {
    const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const { kernel, comm } = make();
    comm.watch(1000, true);
    kernel.says(USAGE);
    kernel.says({ schema: 'memtrack.usage/2' });
    expect(comm.usage).toBeUndefined();
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });
});
