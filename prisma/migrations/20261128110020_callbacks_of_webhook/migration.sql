-- online

CREATE INDEX CONCURRENTLY IF NOT EXISTS callbacks_of_webhook
  ON callbacks (webhook, created_at DESC, event_id DESC) WHERE webhook IS NOT NULL;
