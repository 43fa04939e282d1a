-- online
ALTER TABLE callbacks VALIDATE CONSTRAINT callbacks_attempts;
