/** The application: the providers around every page. */
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { queryClient } from './data/query-client.ts';
import { router } from './router.tsx';

/**
 * Renders the application. `disableStyleElements`: Base UI would add `<style>` elements, which the
 * content security policy refuses.
 */
export function App() {
  return (
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  );
}
