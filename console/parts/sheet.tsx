/**
 * A sheet (dialog) over the page, for a decision. Escape and the Close button close the sheet
 * unless `stays` is set, and the focus stays within. The sheet itself gets the first focus, so a
 * key that is held or pressed twice opens the sheet and signs nothing.
 */
import { Dialog } from '@base-ui/react/dialog';
import { useRef, type ReactNode } from 'react';
import { Ended } from './ended.tsx';
import { Stays } from './stays.tsx';

export interface SheetProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** Why the sheet cannot be closed now; null when it can. */
  readonly stays?: string | null;
  readonly children: ReactNode;
}

export function Sheet({ open, onClose, title, stays = null, children }: SheetProps) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Dialog.Root
      open={open}
      onOpenChange={(isOpen) => (isOpen || stays !== null ? undefined : onClose())}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className="sheet-backdrop" />
        <Dialog.Popup className="sheet" ref={popup} initialFocus={popup}>
          <Dialog.Title>{title}</Dialog.Title>
          <Ended />
          {children}
          {stays === null ? (
            <Dialog.Close className="sheet-close">Close</Dialog.Close>
          ) : (
            <>
              <Stays />
              <p className="small">{stays}</p>
            </>
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
