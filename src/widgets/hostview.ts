// A view of ipywidgets that holds one widget of ours and passes on what happens to it.
import { DOMWidgetView } from '@jupyter-widgets/base';
import type { Message } from '@lumino/messaging';
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

/** Shows what `create` gives. */
export abstract class HostView extends DOMWidgetView {
  // Backbone renders from its constructor: an initializer here would run after it.
  declare private _content: Widget | undefined;

  /** Returns what is shown, undefined for nothing; a page that never shows one loads nothing for it. */
  protected abstract create(): Promise<Widget | undefined>;

  override async render(): Promise<void> {
    const content = await this.create();
    if (this.luminoWidget.isDisposed) {
      content?.dispose();
      return;
    }
    this._content = content;
    if (content !== undefined && this.luminoWidget.isAttached) {
      Widget.attach(content, this.el);
    }
  }

  override remove(): unknown {
    this._content?.dispose();
    return super.remove();
  }

  override processLuminoMessage(message: Message): void {
    super.processLuminoMessage(message);
    const content = this._content;
    if (content === undefined) {
      return;
    }
    if (message.type === 'after-attach' && !content.isAttached) {
      Widget.attach(content, this.el);
    } else if (message.type === 'before-detach' && content.isAttached) {
      Widget.detach(content);
    } else if (message.type === 'after-show' || message.type === 'resize') {
      MessageLoop.sendMessage(content, message);
    }
  }
}
