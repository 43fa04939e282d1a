/**
 * A sheet over the page, for a decision: Escape and its button close it unless it stays, and the
 * focus is kept within.
 */
import { Dialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { Ended } from './ended.tsx';

export interface SheetProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** Why it cannot be closed now; null where it can. */
  readonly stays?: string | null;
  readonly children: ReactNode;
}

export function Sheet({ open, onClose, title, stays = null, children }: SheetProps) {
  return (
    <Dialog.Root
      open={open}
      onOpenChange={(isOpen) => (isOpen || stays !== null ? undefined : onClose())}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className="sheet-backdrop" />
        <Dialog.Popup className="sheet">
          <Dialog.Title>{title}</Dialog.Title>
          <Ended />
          {children}
          {stays === null ? (
            <Dialog.Close className="sheet-close">Close</Dialog.Close>
          ) : (
            <p className="small">{stays}</p>
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
