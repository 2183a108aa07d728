// A report in a page of its own, as `memtrack export FILE.html` writes it: no kernel and no Jupyter.
import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { ReportWidget } from '../views/report';
import { failureText, failureWidget } from '../views/report/failure';
import { unpackNotebook } from '../wire';
import { embeddedServices } from './embedded';

/** Shows a report, packed as in a notebook file, in `node` in place of what is there. */
export async function showReport(node: HTMLElement, data: unknown): Promise<void> {
  const services = embeddedServices();
  const widget = await unpackNotebook(data).then(
    ({ report }) => {
      const view = new ReportWidget(services);
      view.setReport(report);
      return view;
    },
    (error: unknown) => failureWidget(failureText(error, services.trans))
  );
  node.replaceChildren();
  Widget.attach(widget, node);
  window.addEventListener('resize', () =>
    MessageLoop.sendMessage(widget, Widget.ResizeMessage.UnknownSize)
  );
}
