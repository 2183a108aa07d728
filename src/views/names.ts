// The field's words for categories, parts of a device and phases, in the reader's language.
import type { TranslationBundle } from '@jupyterlab/translation';

/** Returns the name of a category or a part of the ledger; the id itself when it is not known. */
export function partName(id: string, trans: TranslationBundle): string {
  switch (id) {
    case 'cache':
      return trans.__('allocator cache');
    case 'context':
      return trans.__('CUDA context');
    case 'process':
      return trans.__('rest of this process');
    case 'outside':
      return trans.__('CUDA context and other processes');
    case 'others':
      return trans.__('other processes');
    case 'free':
      return trans.__('free');
    default:
      return categoryName(id, trans);
  }
}

/** Returns the name of what a part is made of, such as `temporary.forward`; else the id itself. */
export function detailName(id: string, trans: TranslationBundle): string {
  switch (id) {
    case 'cache.small':
      return trans.__('free, small blocks');
    case 'cache.large':
      return trans.__('free, large blocks');
    case 'cache.pending':
      return trans.__('awaiting a stream');
    case 'cache.splinters':
      return trans.__('splinters');
    case 'cache.private':
      return trans.__('in private pools');
    default: {
      const [part = '', ...rest] = id.split('.');
      const phase = rest.join('.');
      return part === 'temporary' ? phaseName(phase, trans) : phase || id;
    }
  }
}

/** Returns the name of a category; the id itself when it is not known. */
export function categoryName(id: string, trans: TranslationBundle): string {
  switch (id) {
    case 'parameter':
      return trans.__('parameters');
    case 'buffer':
      return trans.__('buffers');
    case 'gradient':
      return trans.__('gradients');
    case 'optimizer_state':
      return trans.__('optimizer state');
    case 'cast_weight':
      return trans.__('autocast copies');
    case 'activation':
      return trans.__('activations');
    case 'recomputed':
      return trans.__('recomputed activations');
    case 'output':
      return trans.__('outputs');
    case 'communication':
      return trans.__('communication buffers');
    case 'input':
      return trans.__('batch');
    case 'temporary':
      return trans.__('temporaries');
    case 'workspace':
      return trans.__('workspaces');
    case 'other':
      return trans.__('other tensors');
    case 'unknown':
      return trans.__('unknown');
    default:
      return id;
  }
}

/** Returns the name of a phase; the id itself when it is not known. */
export function phaseName(id: string, trans: TranslationBundle): string {
  switch (id) {
    case 'forward':
      return trans.__('forward');
    case 'backward':
      return trans.__('backward');
    case 'optimizer':
      return trans.__('optimizer');
    case 'other':
      return trans.__('between');
    default:
      return id;
  }
}
