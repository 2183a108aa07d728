// Text out of the page: to the clipboard and to a file.

/** Puts `text` on the clipboard; resolves to whether that worked. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Not a secure page (JupyterHub over http) or not allowed in this frame: the older way.
    return copyByCommand(text);
  }
}

/** Saves `text` as a file called `name` where the browser saves downloads. */
export function saveFile(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // Only after the browser has taken the address up.
  setTimeout(() => URL.revokeObjectURL(address), 0);
}

function copyByCommand(text: string): boolean {
  const give = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.addEventListener('copy', give, true);
  try {
    return document.execCommand('copy');
  } finally {
    document.removeEventListener('copy', give, true);
  }
}
