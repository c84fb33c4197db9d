// The page's own script: an arm in three dimensions, curves on one time axis, one clock for all.
(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const colours = ["#d9701e", "#2b6cb0", "#2f855a", "#b83280", "#6b46c1", "#b7791f", "#4a5568"];
  const film = document.getElementById("film");
  if (!film) document.getElementById("stage").classList.add("alone");

  // -- the arm -----------------------------------------------------------------------------------
  const holder = document.getElementById("arm");
  let drawArm = function () {};
  const probe = document.createElement("canvas");
  const context = probe.getContext("webgl2");
  if (context) {
    const scene = new THREE.Scene();
    scene.background = new THREE.Color("#eef1f4");
    const camera = new THREE.PerspectiveCamera(38, 1.4, 0.05, 20);
    camera.position.set(-0.75, 0.3, 3.1);  // the whole reach of the arm is seen
    const renderer = new THREE.WebGLRenderer({ canvas: probe, context: context, antialias: true });
    holder.prepend(probe);
    const controls = new THREE.OrbitControls(camera, probe);
    controls.target.set(-0.1, -0.12, 0.1);
    scene.add(new THREE.AmbientLight("#ffffff", 1.5));
    const lamp = new THREE.DirectionalLight("#ffffff", 2.2);
    lamp.position.set(-1.5, 3, 3);
    scene.add(lamp);
    const grid = new THREE.GridHelper(3, 12, "#b9c1ca", "#d5dae0");
    grid.position.y = -1.1;
    scene.add(grid);
    const column = new THREE.Mesh(
      new THREE.CylinderGeometry(0.09, 0.12, 1.1, 24),
      new THREE.MeshStandardMaterial({ color: "#59616b" }));
    column.position.set(0, -0.55, -0.14);
    scene.add(column);

    const makeArm = function (colour, opacity) {
      const material = new THREE.MeshStandardMaterial(
        { color: colour, transparent: opacity < 1, opacity: opacity, roughness: 0.55 });
      const dark = new THREE.MeshStandardMaterial(
        { color: "#3a4048", transparent: opacity < 1, opacity: opacity });
      const parts = data.points[0].map(function (_, k) {
        const ball = new THREE.Mesh(new THREE.SphereGeometry(k === 0 ? 0.075 : 0.055, 24, 16), dark);
        scene.add(ball);
        if (k === 0) return { ball: ball };
        const rod = new THREE.Mesh(new THREE.CylinderGeometry(0.042, 0.048, 1, 24), material);
        scene.add(rod);
        return { ball: ball, rod: rod };
      });
      const up = new THREE.Vector3(0, 1, 0);
      return function (points) {
        points.forEach(function (p, k) {
          parts[k].ball.position.fromArray(p);
          if (k === 0) return;
          const from = new THREE.Vector3().fromArray(points[k - 1]);
          const way = new THREE.Vector3().fromArray(p).sub(from);
          const length = way.length();
          parts[k].rod.position.copy(from).addScaledVector(way, 0.5);
          parts[k].rod.scale.set(1, length, 1);
          if (length > 1e-6) parts[k].rod.quaternion.setFromUnitVectors(up, way.normalize());
        });
      };
    };
    const setArm = makeArm("#e07b2a", 1);
    const setShadow = data.wanted ? makeArm("#8a97a6", 0.32) : null;
    const trail = new THREE.Line(
      new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: "#2b6cb0" }));
    scene.add(trail);
    const tip = data.points[0].length - 1;
    const render = function () { renderer.render(scene, camera); };
    const resize = function () {
      const width = holder.clientWidth, height = holder.clientHeight;
      renderer.setPixelRatio(window.devicePixelRatio);
      renderer.setSize(width, height, false);
      camera.aspect = width / height;
      camera.updateProjectionMatrix();
      render();
    };
    drawArm = function (frame) {
      setArm(data.points[frame]);
      if (setShadow) setShadow(data.wanted[frame]);
      const path = data.points.slice(Math.max(0, frame - 45), frame + 1).map((p) => p[tip]).flat();
      trail.geometry.dispose();
      trail.geometry = new THREE.BufferGeometry();
      trail.geometry.setAttribute("position", new THREE.Float32BufferAttribute(path, 3));
      render();
    };
    controls.addEventListener("change", render);
    new ResizeObserver(function () { requestAnimationFrame(resize); }).observe(holder);
    resize();
  } else {
    holder.querySelector("p").textContent = "This browser has no WebGL: the film and the curves still work.";
  }

  // -- the curves --------------------------------------------------------------------------------
  const panels = data.panels.map(function (panel) {
    const box = document.createElement("section");
    box.className = "panel";
    const head = document.createElement("h2");
    const unit = document.createElement("small");
    unit.textContent = panel.unit;
    head.append(panel.title + " ", unit);
    const key = document.createElement("div");
    key.className = "key";
    const names = Object.keys(panel.curves);
    names.forEach(function (name, k) {
      const entry = document.createElement("span");
      const mark = document.createElement("i");
      mark.style.background = colours[k % colours.length];
      entry.append(mark, name);
      key.append(entry);
    });
    const canvas = document.createElement("canvas");
    box.append(head, key, canvas);
    document.getElementById("panels").append(box);
    const values = Object.values(panel.curves).flat().filter((v) => v !== null);
    let low = Math.min.apply(null, values), high = Math.max.apply(null, values);
    if (high - low < 1e-12) { low -= 1; high += 1; }
    const pad = 0.06 * (high - low);
    const drawn = { canvas: canvas, names: names, curves: panel.curves, low: low - pad, high: high + pad };
    const seek = function (event) {
      const box = canvas.getBoundingClientRect();
      show(Math.round((data.n - 1) * (event.clientX - box.left - LEFT) / (box.width - LEFT)), true);
    };
    canvas.addEventListener("pointerdown", function (event) { stop(); seek(event); });
    canvas.addEventListener("pointermove", function (event) { if (event.buttons) seek(event); });
    return drawn;
  });
  const LEFT = 54;

  function paint(panel, frame) {
    const canvas = panel.canvas, ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const g = canvas.getContext("2d");
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    const x = (i) => LEFT + (width - LEFT - 4) * i / Math.max(data.n - 1, 1);
    const y = (v) => height - 16 - (height - 22) * (v - panel.low) / (panel.high - panel.low);
    g.fillStyle = "#f0dfd2";
    data.held.forEach((i) => g.fillRect(x(i) - 0.5, 4, Math.max(x(1) - x(0), 1) + 1, height - 20));
    g.font = "11px system-ui, sans-serif";
    g.fillStyle = "#6b7480";
    g.strokeStyle = "#e3e7eb";
    // As many decimals as tell the three marks apart.
    const digits = Math.min(6, Math.max(0, Math.ceil(1.3 - Math.log10(panel.high - panel.low))));
    [0, 0.5, 1].forEach(function (part) {
      const v = panel.low + (panel.high - panel.low) * (0.06 + 0.88 * part);
      g.beginPath(); g.moveTo(LEFT, y(v)); g.lineTo(width, y(v)); g.stroke();
      g.textAlign = "right";
      g.fillText(Number(v.toFixed(digits)), LEFT - 6, y(v) + 4);
    });
    g.textAlign = "center";
    const step = Math.max(1, Math.round(data.n / data.fps / 8));
    for (let s = 0; s * data.fps < data.n; s += step) g.fillText(s + " s", x(s * data.fps) + 8, height - 2);
    panel.names.forEach(function (name, k) {
      g.strokeStyle = colours[k % colours.length];
      g.lineWidth = 1.5;
      g.beginPath();
      let pen = false;
      panel.curves[name].forEach(function (v, i) {
        if (v === null) { pen = false; return; }
        if (pen) g.lineTo(x(i), y(v)); else g.moveTo(x(i), y(v));
        pen = true;
      });
      g.stroke();
    });
    g.strokeStyle = "#22262b";
    g.lineWidth = 1;
    g.beginPath(); g.moveTo(x(frame), 4); g.lineTo(x(frame), height - 16); g.stroke();
  }

  // -- the clock ---------------------------------------------------------------------------------
  const slider = document.getElementById("time");
  const button = document.getElementById("play");
  const clock = document.getElementById("clock");
  slider.max = data.n - 1;
  let now = 0, playing = true, began = performance.now(), first = 0;

  function show(frame, seek) {
    now = Math.min(Math.max(frame, 0), data.n - 1);
    slider.value = now;
    clock.textContent = (now / data.fps).toFixed(2) + " s, frame " + now;
    drawArm(now);
    panels.forEach((panel) => paint(panel, now));
    if (film && (seek || Math.abs(film.currentTime - now / data.fps) > 0.15)) {
      film.currentTime = (now + 0.5) / data.fps;
    }
  }
  function stop() {
    playing = false;
    button.textContent = "Play";
  }
  function tick(t) {
    if (playing) {
      const frame = (first + Math.floor((t - began) / 1000 * data.fps)) % data.n;
      if (frame !== now) show(frame, false);
    }
    requestAnimationFrame(tick);
  }
  button.addEventListener("click", function () {
    if (playing) { stop(); return; }
    playing = true;
    button.textContent = "Pause";
    first = now;
    began = performance.now();
  });
  slider.addEventListener("input", function () { stop(); show(Number(slider.value), true); });
  window.addEventListener("resize", function () { show(now, false); });
  if (location.hash.startsWith("#frame=")) {
    stop();
    show(Number(location.hash.slice(7)), true);
  } else {
    show(0, true);
  }
  requestAnimationFrame(tick);
})();
