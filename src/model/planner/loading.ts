// The peaks of loading a checkpoint: the twin of memtrack/planners/loading.py, where each way is explained.
import type { ILoadingInputs } from '../../wire/plan';
import { bytesOf, ceilDiv } from './elements';

const LARGEST_SHARE = 16;

/** One way to load: private memory of the process, droppable pages of the file, and the GPU, in bytes. */
export interface ILoadingWay {
  readonly id: string;
  readonly host: number;
  readonly mapped: number;
  readonly device: number;
  readonly deviceAfter: number;
}

/** Returns every way, the one with the least memory first. */
export function loadingWays(inputs: ILoadingInputs): readonly ILoadingWay[] {
  const { parameters } = inputs;
  const file = bytesOf(parameters, inputs.stored);
  const built = bytesOf(parameters, inputs.built);
  const model = bytesOf(parameters, inputs.dtype);
  const largest = inputs.largest || ceilDiv(parameters, LARGEST_SHARE);
  const tensor = bytesOf(largest, inputs.stored);
  const cast = bytesOf(largest, inputs.dtype);
  const change = inputs.dtype === inputs.stored ? 0 : cast;
  const asStored = changedThere(file, model, tensor, change);
  const asBuilt = changedThere(
    built,
    model,
    bytesOf(largest, inputs.built),
    inputs.dtype === inputs.built ? 0 : cast
  );
  const way = (id: string, host: number, mapped: number, device: number): ILoadingWay => ({
    id,
    host,
    mapped,
    device,
    deviceAfter: model
  });
  const ways = [
    way('load_cpu', built + file, 0, model),
    way('load_cuda', Math.max(built, tensor), 0, Math.max(built + file, asBuilt)),
    way('mmap', built, file, model),
    way('assign', built + file, 0, model),
    way('meta', file + change, 0, model),
    way('meta_mmap', change, file, model),
    way('safetensors', built, file, model),
    way('safetensors_cuda', tensor, file, asStored),
    way('pretrained_old', bytesOf(parameters, 'fp32') + file, 0, model),
    way('pretrained', model + tensor, file, model),
    way('pretrained_device_map', tensor + change, file, model)
  ];
  return ways.sort(
    (a, b) =>
      a.host + a.device - (b.host + b.device) || a.mapped - b.mapped || (a.id < b.id ? -1 : 1)
  );
}

/** The peak of a model that changes its dtype where it is; `change` is 0 where the dtype stays. */
function changedThere(before: number, after: number, tensor: number, change: number): number {
  return change === 0 ? before : Math.max(before + change, after + tensor);
}
