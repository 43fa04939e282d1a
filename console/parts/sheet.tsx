/** A sheet over the page, for a decision: Escape and its button close it, focus stays within. */
import { Dialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { Ended } from './ended.tsx';

export interface SheetProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
}

export function Sheet({ open, onClose, title, children }: SheetProps) {
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className="sheet-backdrop" />
        <Dialog.Popup className="sheet">
          <Dialog.Title>{title}</Dialog.Title>
          <Ended />
          {children}
          <Dialog.Close className="sheet-close">Close</Dialog.Close>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
