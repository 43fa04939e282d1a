-- online

ALTER TABLE callbacks VALIDATE CONSTRAINT callbacks_of_one;
