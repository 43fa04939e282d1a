-- online

CREATE INDEX CONCURRENTLY IF NOT EXISTS callbacks_due_of_webhook
  ON callbacks (webhook, next_attempt_at, event_id)
  WHERE status = 'pending' AND webhook IS NOT NULL;
