// Runs once after the files of the project `stack`, in the process that set it up.
export default async function tearDown() {
  await globalThis.stopSharedStack?.();
}
