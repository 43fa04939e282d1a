/** Shown instead of a page that does not exist or failed. */
import { Link, useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { Button } from './button.tsx';
import { Problem } from './problem.tsx';

export function NotFound() {
  return (
    <>
      <h1>There is no such page</h1>
      <p>
        <Link to="/">What needs you</Link> leads to the rest.
      </p>
    </>
  );
}

/**
 * Shows that a part of the page could not be loaded or rendered. After a release the names of the
 * page's files have changed, so this offers to reload the page.
 */
export function PageFailed({ error }: ErrorComponentProps) {
  const router = useRouter();
  const isMissingPart = error instanceof Error && /import|module/i.test(error.message);
  if (isMissingPart)
    return (
      <>
        <h1>This page is from an earlier release</h1>
        <p>The service was updated, or a part of the page could not be loaded. Nothing was sent.</p>
        <Button onClick={() => location.reload()}>Load the page anew</Button>
      </>
    );
  return (
    <>
      <h1>The page could not be shown</h1>
      <Problem error={error} />
      <Button onClick={() => void router.invalidate()}>Try again</Button>
    </>
  );
}
