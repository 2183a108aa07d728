import { inkOn, partsOf, withAlpha } from '../colour';
import { FrameTask } from '../frame';
import { rangeOf, stepArea } from '../path';
import { watchTheme } from '../theme';

function nextFrame(): Promise<void> {
  return new Promise(resolve => requestAnimationFrame(() => resolve()));
}

describe('a drawing task', () => {
  it('draws once a frame however often it is asked', async () => {
    const draw = jest.fn();
    const task = new FrameTask(draw);
    task.request();
    task.request();
    expect(draw).not.toHaveBeenCalled();
    await nextFrame();
    expect(draw).toHaveBeenCalledTimes(1);
    await nextFrame();
    expect(draw).toHaveBeenCalledTimes(1);
  });

  it('draws nothing while hidden, and what was asked for when shown again', async () => {
    const draw = jest.fn();
    const task = new FrameTask(draw);
    task.isShown = false;
    task.request();
    await nextFrame();
    expect(draw).not.toHaveBeenCalled();
    task.isShown = true;
    await nextFrame();
    expect(draw).toHaveBeenCalledTimes(1);
  });

  it('draws nothing after it is disposed', async () => {
    const draw = jest.fn();
    const task = new FrameTask(draw);
    task.request();
    task.dispose();
    await nextFrame();
    expect(draw).not.toHaveBeenCalled();
  });
});

describe('colours', () => {
  it('are read and made transparent', () => {
    expect(partsOf('rgba(1, 2, 3, 0.5)')).toEqual([1, 2, 3]);
    expect(withAlpha('rgb(1, 2, 3)', 0.25)).toBe('rgba(1, 2, 3, 0.25)');
  });

  it('carry the ink that is easier to read', () => {
    expect(inkOn('rgb(255, 255, 0)')).toBe('rgb(0, 0, 0)');
    expect(inkOn('rgb(24, 66, 168)')).toBe('rgb(255, 255, 255)');
  });
});

it('an area holds each value until the next position', () => {
  const path = stepArea([0, 5], [10, 20], { first: 0, last: 10, most: 20 });
  expect(path).toBe('M0 100H0V50H500V0H1000V100Z');
  expect(stepArea([], [], { first: 0, last: 1, most: 1 })).toBe('');
});

it('of what happened at one position the least and the most are kept', () => {
  expect(rangeOf([0, 4, 4, 4, 9], [7, 5, 9, 6, 8])).toEqual({
    positions: [0, 4, 9],
    least: [7, 5, 8],
    most: [7, 9, 8]
  });
});

it('a new theme of the page is noticed until nobody watches', async () => {
  const changed = jest.fn();
  const watch = watchTheme(changed);
  document.body.dataset.jpThemeName = 'JupyterLab Dark';
  await Promise.resolve();
  expect(changed).toHaveBeenCalledTimes(1);
  watch.dispose();
  document.body.dataset.jpThemeName = 'JupyterLab Light';
  await Promise.resolve();
  expect(changed).toHaveBeenCalledTimes(1);
});
