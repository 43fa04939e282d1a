{{- define "fund.name" -}}
{{- printf "%s-%s" .Release.Name "fund" | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "fund.labels" -}}
{{ include "fund.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "fund.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "fund.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* The files of API and workers, by name. */}}
{{- define "fund.files" -}}
registry.json: {{ toJson .Values.registry | quote }}
venues.json: {{ toJson .Values.venues | quote }}
{{- end -}}

{{/* The ConfigMap of these files: another one for each content. */}}
{{- define "fund.config" -}}
{{- printf "%s-config-%s" (include "fund.name" .) (include "fund.files" . | sha256sum | trunc 10) -}}
{{- end -}}

{{/* What every container may do: nothing but what it is for. */}}
{{- define "fund.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- define "fund.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{/* The plain settings of a role as YAML: those of all roles, then its own. Takes root, role. */}}
{{- define "fund.settings" -}}
{{- toYaml (mergeOverwrite (deepCopy .root.Values.settings) ((index .root.Values .role).settings | default dict)) -}}
{{- end -}}

{{/* Port of the metrics of Temporal's SDK, which a worker alone serves; empty: none. Takes root, role. */}}
{{- define "fund.sdkMetricsPort" -}}
{{- if eq .role "worker" -}}
{{- (include "fund.settings" . | fromYaml).SVC_SDK_METRICS_PORT | default "" -}}
{{- end -}}
{{- end -}}

{{/* Plain settings of a role, then those that a mounted file gives. Takes root, settings, files. */}}
{{- define "fund.environment" -}}
{{- range $name, $value := .settings }}
{{- if ne (toString $value) "" }}
- { name: {{ $name }}, value: {{ toString $value | quote }} }
{{- end }}
{{- end }}
{{- range $name, $file := .files }}
- { name: {{ $name }}_FILE, value: {{ printf "/run/secrets/fund/%s" $file | quote }} }
{{- end }}
{{- end -}}

{{/* The build that these settings name, "<deployment> <build>"; empty without one. */}}
{{- define "fund.build" -}}
{{- with .SVC_TEMPORAL_BUILD_ID | default .TEMPORAL_WORKER_BUILD_ID -}}
{{- printf "%s %s" (toString ($.SVC_TEMPORAL_DEPLOYMENT_NAME | default $.TEMPORAL_DEPLOYMENT_NAME)) (toString .) -}}
{{- end -}}
{{- end -}}

{{/*
Fails when an upgrade would replace the workers of a build with those of another one: runs that stay
on the build would stand still. Fails also when the build stays and its image does not: the runs would
be replayed by other code. Only Helm itself sees what is installed; `helm template` does not.
*/}}
{{- define "fund.refuseOtherBuild" -}}
{{- $installed := lookup "apps/v1" "Deployment" .Release.Namespace (printf "%s-worker" (include "fund.name" .)) -}}
{{- if $installed -}}
{{- $container := first $installed.spec.template.spec.containers -}}
{{- $env := dict -}}
{{- range $container.env -}}
{{- $_ := set $env .name .value -}}
{{- end -}}
{{- $is := include "fund.build" $env -}}
{{- $wanted := include "fund.build" (include "fund.settings" (dict "root" . "role" "worker") | fromYaml) -}}
{{- if and $is (ne $is $wanted) -}}
{{- fail (printf "the workers of the release %s are of the build %q, and this would replace them with %q: runs that stay on the first would stand still. Install the second as a release of its own with api.replicas=0, or drain the first and upgrade with worker.replicas=0 before this (docs/deploy.md, On Kubernetes)" .Release.Name $is $wanted) -}}
{{- end -}}
{{- $image := include "fund.image" . -}}
{{- $was := index ($installed.metadata.annotations | default dict) "fund/image" | default $container.image -}}
{{- if and $is (ne $was $image) -}}
{{- fail (printf "the workers of the release %s are of the build %q with the image %s, and this would give the same build the image %s: runs that stay on the build would be replayed by other code. Set another SVC_TEMPORAL_BUILD_ID and install that build as a release of its own with api.replicas=0 (docs/deploy.md, On Kubernetes)" .Release.Name $is $was $image) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The pod of a command with the owner's rights. Takes root, name, args, settings, values. */}}
{{- define "fund.ownersPod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  {{- include "fund.podSecurity" .root | nindent 2 }}
containers:
  - name: {{ .name }}
    image: {{ include "fund.image" .root }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    args: {{ toJson .args }}
    env:
      {{- include "fund.environment" (dict "settings" .settings "files" .values.files) | nindent 6 }}
    resources:
      {{- toYaml .values.resources | nindent 6 }}
    securityContext:
      {{- include "fund.containerSecurity" .root | nindent 6 }}
    volumeMounts:
      - { name: secrets, mountPath: /run/secrets/fund, readOnly: true }
volumes:
  - name: secrets
    secret: { secretName: {{ .values.secretName }}, defaultMode: 0440 }
{{- end -}}

{{/* Deployment, disruption budget of a role. Takes root, role. */}}
{{- define "fund.deployment" -}}
{{- $root := .root -}}
{{- $values := index $root.Values .role -}}
{{- $settings := include "fund.settings" . | fromYaml -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "fund.name" $root }}-{{ .role }}
  labels:
    {{- include "fund.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .role }}
  annotations:
    # What refuseOtherBuild compares: a cluster may rewrite the image of the container itself.
    fund/image: {{ include "fund.image" $root }}
spec:
  replicas: {{ $values.replicas }}
  strategy:
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  selector:
    matchLabels:
      {{- include "fund.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .role }}
  template:
    metadata:
      labels:
        {{- include "fund.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .role }}
      {{- with $values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      {{- with $root.Values.image.pullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      {{- with $root.Values.serviceAccount.name }}
      serviceAccountName: {{ . }}
      {{- end }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      securityContext:
        {{- include "fund.podSecurity" $root | nindent 8 }}
      # A send is waited for and never called off (docs/operations.md). The API answers what it took
      # for up to 30 s after its drain; a worker waits for its longest call and 5 s for the record.
      # Ten more are for connections to close and the process to end by itself.
      terminationGracePeriodSeconds: {{ add $root.Values.drainSeconds (ternary 40 (add $root.Values.longestTimeoutSeconds 5) (eq .role "api")) 10 }}
      topologySpreadConstraints:
        {{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
        - maxSkew: 1
          topologyKey: {{ $key }}
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "fund.selector" $root | nindent 14 }}
              app.kubernetes.io/component: {{ $.role }}
        {{- end }}
      {{- with $values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .role }}
          image: {{ include "fund.image" $root }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: [node, dist/main.js, {{ .role }}]
          env:
            - { name: SVC_HOST, value: 0.0.0.0 }
            - { name: SVC_OPS_HOST, value: 0.0.0.0 }
            - { name: SVC_PORT, value: '8100' }
            - { name: SVC_OPS_PORT, value: '9465' }
            - { name: SVC_DRAIN_SECONDS, value: {{ $root.Values.drainSeconds | quote }} }
            - { name: SVC_REGISTRY_FILE, value: /etc/fund/registry.json }
            - { name: SVC_VENUES_FILE, value: /etc/fund/venues.json }
            {{- include "fund.environment" (dict "settings" $settings "files" $values.files) | nindent 12 }}
          ports:
            {{- if eq .role "api" }}
            - { name: api, containerPort: 8100 }
            {{- end }}
            - { name: operations, containerPort: 9465 }
            {{- with include "fund.sdkMetricsPort" . }}
            - { name: sdk-metrics, containerPort: {{ . }} }
            {{- end }}
          startupProbe:
            httpGet: { path: /healthz, port: operations }
            periodSeconds: 2
            failureThreshold: 60
          livenessProbe:
            httpGet: { path: /healthz, port: operations }
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /readyz, port: operations }
            periodSeconds: 3
            timeoutSeconds: 5
            failureThreshold: 1
          resources:
            {{- toYaml $values.resources | nindent 12 }}
          securityContext:
            {{- include "fund.containerSecurity" $root | nindent 12 }}
          volumeMounts:
            - { name: config, mountPath: /etc/fund, readOnly: true }
            - { name: secrets, mountPath: /run/secrets/fund, readOnly: true }
      volumes:
        # Another name for other files starts the processes anew, which read them once.
        - name: config
          configMap: { name: {{ include "fund.config" $root }} }
        - name: secrets
          secret: { secretName: {{ $values.secretName }}, defaultMode: 0440 }
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "fund.name" $root }}-{{ .role }}
  labels:
    {{- include "fund.labels" $root | nindent 4 }}
spec:
  {{- toYaml $values.podDisruptionBudget | nindent 2 }}
  selector:
    matchLabels:
      {{- include "fund.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .role }}
{{- end -}}
