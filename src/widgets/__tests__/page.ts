// A widget manager and a comm without a kernel, for tests.
import type { ICallbacks, IClassicComm, WidgetModel, WidgetView } from '@jupyter-widgets/base';
import * as base from '@jupyter-widgets/base';
import { ManagerBase } from '@jupyter-widgets/base-manager';
import type { JSONValue } from '@lumino/coreutils';

import type { IReportWidgets } from '../report';

type Handler = (message: unknown) => void;

/** A comm whose other end is the test. */
export class FakeComm implements IClassicComm {
  readonly target_name = 'jupyter.widget';
  readonly sent: JSONValue[] = [];
  private _onMessage: Handler = () => undefined;
  private _onClose: Handler = () => undefined;

  constructor(readonly comm_id: string) {}

  open(): string {
    return '';
  }

  send(data: JSONValue, _callbacks?: ICallbacks): string {
    this.sent.push(data);
    return '';
  }

  close(): string {
    return '';
  }

  on_msg(callback: Handler): void {
    this._onMessage = callback;
  }

  on_close(callback: Handler): void {
    this._onClose = callback;
  }

  /** The custom messages that were sent, without their envelope. */
  get customs(): unknown[] {
    return this.sent.flatMap(data =>
      typeof data === 'object' && data !== null && 'content' in data ? [data.content] : []
    );
  }

  /** Says something as the kernel would. */
  async say(content: unknown, buffers: readonly DataView[] = []): Promise<void> {
    await this._onMessage({ content: { data: { method: 'custom', content } }, buffers });
  }

  /** The kernel is gone. */
  end(): void {
    this._onClose({ content: {} });
  }
}

/** A manager that knows our module and the base. */
export class FakeManager extends ManagerBase {
  constructor(private readonly _widgets: IReportWidgets) {
    super();
  }

  protected override loadClass(
    className: string,
    moduleName: string
  ): Promise<typeof WidgetModel | typeof WidgetView> {
    const known: Record<string, unknown> =
      moduleName === 'memtrack' ? { ...this._widgets } : { ...base };
    return Promise.resolve(known[className] as typeof WidgetModel);
  }

  protected override _create_comm(_target: string, id?: string): Promise<IClassicComm> {
    return Promise.resolve(new FakeComm(id ?? ''));
  }

  protected override _get_comm_info(): Promise<object> {
    return Promise.resolve({});
  }
}
