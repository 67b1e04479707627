"""The verbs on files of Caffe and UFW: a module for each kind, a function for each verb."""
