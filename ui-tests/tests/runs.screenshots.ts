// The pictures of kept runs and of a comparison in the README: a small GPT-2 really trained, five ways.
import type { Locator } from '@playwright/test';
import { expect, test } from '@playwright/test';
import path from 'node:path';

import { openNotebook, sharedLab } from './support/lab';
import { writeNotebook } from './support/notebooks';
import { takePicture } from './support/picture';

const FOLDER = path.join(__dirname, '../../docs/images');
const FONTS = { 'ui-font-family': '"Liberation Sans", Arial, "DejaVu Sans"' };
const SETUP = `import os, shutil, warnings
warnings.simplefilter("ignore")
# Runs of the last time have the same names.
shutil.rmtree("/tmp/gpt2", ignore_errors=True)
os.makedirs("/tmp/gpt2")
os.environ["MEMTRACK_HISTORY"] = "/tmp/gpt2"
import torch, memtrack, transformers
%load_ext memtrack
def train(name, layers=6, batch=8, checkpoint=False, optimizer=torch.optim.AdamW):
    torch.manual_seed(0)
    config = transformers.GPT2Config(n_layer=layers, n_embd=192, n_head=4, vocab_size=8000, bos_token_id=0, eos_token_id=0)
    gpt = transformers.GPT2LMHeadModel(config)
    if checkpoint:
        gpt.gradient_checkpointing_enable()
    chosen = optimizer(gpt.parameters(), lr=1e-4)
    ids = torch.randint(0, 8000, (batch, 64))
    with memtrack.track(gpt, chosen) as recording:
        for _ in range(3):
            gpt(input_ids=ids, labels=ids).loss.backward()
            chosen.step()
            chosen.zero_grad()
    get_ipython().run_line_magic("memtrack", f"history name last {name}")`;
const RUNS = `train("base")
%memtrack history baseline base
train("eight-layers", layers=8)
train("half-batch", batch=4)
train("sgd", optimizer=torch.optim.SGD)
train("checkpointed", checkpoint=True)`;

const lab = sharedLab({
  settings: { '@jupyterlab/apputils-extension:themes': { overrides: FONTS } }
});

test('kept runs and a comparison', async () => {
  test.setTimeout(400_000);
  const { page } = lab;
  const cells = [SETUP, RUNS, '%memtrack history', '%memtrack diff base checkpointed'];
  await openNotebook(page, writeNotebook('runs.ipynb', cells));
  await page.sidebar.close('left');
  await page.setViewportSize({ width: 1180, height: 1400 });
  await page.notebook.run();
  const history = page.getByRole('region', { name: 'Kept runs' });
  await expect(history.getByRole('heading', { name: /^5 runs in/ })).toBeVisible({
    timeout: 300_000
  });
  await take(history, 'history');
  const comparison = page.getByRole('region', { name: 'Comparison of two runs' });
  await expect(comparison.getByRole('table', { name: 'What moved the peak' })).toBeVisible();
  await take(comparison, 'comparison');
});

async function take(view: Locator, name: string): Promise<void> {
  await view.scrollIntoViewIfNeeded();
  await lab.page.mouse.move(0, 0);
  await lab.page.evaluate(() => document.fonts.ready);
  await takePicture(view, path.join(FOLDER, `${name}.png`), { animations: 'disabled' });
}
