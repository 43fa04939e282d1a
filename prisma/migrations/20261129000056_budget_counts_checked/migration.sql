-- online

ALTER TABLE budget_reservations VALIDATE CONSTRAINT budget_reservations_amount_check;
